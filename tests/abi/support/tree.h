/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A temporary folder that a test fills, for instance as a proc tree.
 */
#ifndef HMN_TESTS_ABI_TREE_H
#define HMN_TESTS_ABI_TREE_H

typedef struct tree {
  char path[64];
} tree;

int tree_make(tree* t);
/* Writes a file below the tree and makes the folders that it needs. */
int tree_write(const tree* t, const char* name, const char* text);
void tree_remove(const tree* t);

#endif
