// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/windows/process.hpp"

#include <algorithm>
#include <optional>

#include "cli/system/process.hpp"
#include "cli/system/process_tree.hpp"
#include "cli/system/windows/file.hpp"
#include "platform/windows/system.hpp"

// Requires windows.h first.
#include <tlhelp32.h>

namespace hmn::cli {
namespace {

struct Entry {
  std::uint32_t pid = 0;
  std::uint32_t parent = 0;
};

std::vector<Entry> list_processes(std::string& error) {
  std::vector<Entry> entries;
  error.clear();
  const platform::Handle list(CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0));
  if (!list) return error = "cannot list the processes: " + last_error_text(), entries;
  PROCESSENTRY32W entry{};
  entry.dwSize = sizeof entry;
  for (BOOL has_entry = Process32FirstW(list.get(), &entry); has_entry != 0;
       has_entry = Process32NextW(list.get(), &entry))
    entries.push_back({entry.th32ProcessID, entry.th32ParentProcessID});
  return entries;
}

// Returns the creation time in 100 ns; none for a process that has ended or is not accessible.
std::optional<std::uint64_t> read_start(std::uint32_t pid) {
  const platform::Handle process(
      OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION | SYNCHRONIZE, FALSE, pid));
  FILETIME start{}, end{}, kernel{}, user{};
  if (!process || WaitForSingleObject(process.get(), 0) == WAIT_OBJECT_0 ||
      GetProcessTimes(process.get(), &start, &end, &kernel, &user) == 0)
    return std::nullopt;
  return (std::uint64_t{start.dwHighDateTime} << 32) | start.dwLowDateTime;
}

}  // namespace

UserToken::UserToken(HANDLE process) {
  HANDLE token_handle = nullptr;
  if (OpenProcessToken(process, TOKEN_QUERY, &token_handle) == 0) return;
  const platform::Handle token(token_handle);
  DWORD size = 0;
  GetTokenInformation(token.get(), TokenUser, nullptr, 0, &size);
  bytes_.resize(size);
  if (GetTokenInformation(token.get(), TokenUser, bytes_.data(), size, &size) == 0) bytes_.clear();
}

PSID UserToken::sid() const {
  if (bytes_.size() < sizeof(TOKEN_USER)) return nullptr;
  return reinterpret_cast<const TOKEN_USER*>(bytes_.data())->User.Sid;
}

OwnerOnlySecurity::OwnerOnlySecurity() {
  const UserToken self(GetCurrentProcess());
  const DWORD sid_length = self.sid() == nullptr ? 0 : GetLengthSid(self.sid());
  list_.resize(sizeof(ACL) + sizeof(ACCESS_ALLOWED_ACE) + sid_length);
  auto* list = reinterpret_cast<ACL*>(list_.data());
  InitializeAcl(list, static_cast<DWORD>(list_.size()), ACL_REVISION);
  if (self.sid() != nullptr) AddAccessAllowedAce(list, ACL_REVISION, GENERIC_ALL, self.sid());
  InitializeSecurityDescriptor(&descriptor_, SECURITY_DESCRIPTOR_REVISION);
  SetSecurityDescriptorDacl(&descriptor_, TRUE, list, FALSE);
  // Block inherited permissions.
  SetSecurityDescriptorControl(&descriptor_, SE_DACL_PROTECTED, SE_DACL_PROTECTED);
  attributes_ = {sizeof attributes_, &descriptor_, FALSE};
}

UserLookup find_uid(const std::string&) {
  return {};
}

std::optional<std::string> find_process_user(std::uint32_t pid, std::optional<std::uint32_t>) {
  const platform::Handle process(OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, pid));
  if (!process) return std::nullopt;
  const UserToken token_user(process.get());
  if (token_user.sid() == nullptr) return std::nullopt;
  wchar_t name[256], domain[256];
  DWORD name_length = 256, domain_length = 256;
  SID_NAME_USE kind{};
  if (LookupAccountSidW(nullptr, token_user.sid(), name, &name_length, domain, &domain_length,
                        &kind) == 0)
    return std::nullopt;
  return platform::to_utf8({name, name_length});
}

// Returns none: Windows has no PID namespaces.
std::optional<std::uint32_t> find_namespace_pid(std::uint32_t) {
  return std::nullopt;
}

std::optional<std::uint64_t> read_process_cpu_ns(const Roots&, std::uint32_t) {
  return std::nullopt;
}

std::optional<std::uint64_t> read_process_start(const Roots&, std::uint32_t pid) {
  return read_start(pid);
}

struct ProcessTree::State {
  const Member* find(std::uint32_t pid) const;
  void add(std::uint32_t pid);
  void add_descendants();

  std::vector<Member> members;
  std::string error;
};

const ProcessTree::Member* ProcessTree::State::find(std::uint32_t pid) const {
  const auto it = std::find_if(members.begin(), members.end(),
                               [pid](const Member& member) { return member.pid == pid; });
  return it == members.end() ? nullptr : &*it;
}

void ProcessTree::State::add(std::uint32_t pid) {
  if (find(pid) != nullptr) return;
  if (const auto start = read_start(pid)) members.push_back({pid, *start});
}

// Adds children that are no older than their parent: a process keeps the number of a parent that
// has ended, which may have been reused.
void ProcessTree::State::add_descendants() {
  const auto entries = list_processes(error);
  for (bool grew = true; grew;) {
    grew = false;
    for (const auto& entry : entries) {
      const auto* parent = find(entry.parent);
      if (parent == nullptr || find(entry.pid) != nullptr) continue;
      const auto start = read_start(entry.pid);
      if (!start || *start < parent->start) continue;
      members.push_back({entry.pid, *start});
      grew = true;
    }
  }
}

ProcessTree::ProcessTree(const Roots&, std::uint32_t root_pid, bool)
    : state_(std::make_unique<State>()) {
  state_->add(root_pid);
}

ProcessTree::~ProcessTree() = default;

void ProcessTree::refresh(const std::vector<std::uint32_t>& extra_pids) {
  std::erase_if(state_->members,
                [](const Member& member) { return read_start(member.pid) != member.start; });
  for (const auto pid : extra_pids) state_->add(pid);
  state_->add_descendants();
}

const std::vector<ProcessTree::Member>& ProcessTree::members() const {
  return state_->members;
}

const std::string& ProcessTree::error() const {
  return state_->error;
}

}  // namespace hmn::cli
