#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# rpm.sh: the packages of contrib/rpm build from the source archive, and rpmlint reports nothing.
set -eu

for tool in git rpmbuild rpmlint; do
  command -v $tool >/dev/null || { echo "skipped: $tool is missing"; exit 77; }
done
rm -rf "$SCRATCH"
mkdir -p "$SCRATCH/SOURCES"
git -C "$SOURCE" archive --prefix="hypomnesis-$VERSION/" HEAD | gzip -n >"$SCRATCH/SOURCES/hypomnesis-$VERSION.tar.gz"
spec=$SOURCE/contrib/rpm/hypomnesis.spec
# --nodeps, as Debian's rpm does not know the Fedora packages that the spec requires.
rpmbuild --nodeps -ba --define "_topdir $SCRATCH" "$spec" >"$SCRATCH/log" 2>&1 || { tail -n 30 "$SCRATCH/log"; exit 1; }
rpmlint -c "$SOURCE/contrib/rpm/rpmlint.toml" "$SCRATCH"/RPMS/*/*.rpm "$SCRATCH"/SRPMS/*.rpm "$spec" >"$SCRATCH/lint" || :
grep -q ' 0 errors, 0 warnings' "$SCRATCH/lint" || { cat "$SCRATCH/lint"; exit 1; }
rpm2cpio "$SCRATCH"/RPMS/*/hypomnesis-libs-*.rpm | cpio -t --quiet | grep "libhypomnesis.so.$VERSION$"
