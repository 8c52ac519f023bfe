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

std::vector<Entry> all_processes(std::string& why_not) {
  std::vector<Entry> all;
  why_not.clear();
  const platform::Handle list(CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0));
  if (!list) return why_not = "cannot list the processes: " + last_error_text(), all;
  PROCESSENTRY32W each{};
  each.dwSize = sizeof each;
  for (BOOL found = Process32FirstW(list.get(), &each); found != 0;
       found = Process32NextW(list.get(), &each))
    all.push_back({each.th32ProcessID, each.th32ParentProcessID});
  return all;
}

// Returns the creation time in 100 ns; none for a process that has ended or is not accessible.
std::optional<std::uint64_t> start_of(std::uint32_t pid) {
  const platform::Handle process(
      OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION | SYNCHRONIZE, FALSE, pid));
  FILETIME created{}, ended{}, kernel{}, user{};
  if (!process || WaitForSingleObject(process.get(), 0) == WAIT_OBJECT_0 ||
      GetProcessTimes(process.get(), &created, &ended, &kernel, &user) == 0)
    return std::nullopt;
  return (std::uint64_t{created.dwHighDateTime} << 32) | created.dwLowDateTime;
}

}  // namespace

UserToken::UserToken(HANDLE process) {
  HANDLE opened = nullptr;
  if (OpenProcessToken(process, TOKEN_QUERY, &opened) == 0) return;
  const platform::Handle token(opened);
  DWORD needed = 0;
  GetTokenInformation(token.get(), TokenUser, nullptr, 0, &needed);
  bytes_.resize(needed);
  if (GetTokenInformation(token.get(), TokenUser, bytes_.data(), needed, &needed) == 0)
    bytes_.clear();
}

PSID UserToken::sid() const {
  if (bytes_.size() < sizeof(TOKEN_USER)) return nullptr;
  return reinterpret_cast<const TOKEN_USER*>(bytes_.data())->User.Sid;
}

OwnerOnly::OwnerOnly() {
  const UserToken self(GetCurrentProcess());
  const DWORD of_sid = self.sid() == nullptr ? 0 : GetLengthSid(self.sid());
  list_.resize(sizeof(ACL) + sizeof(ACCESS_ALLOWED_ACE) + of_sid);
  auto* list = reinterpret_cast<ACL*>(list_.data());
  InitializeAcl(list, static_cast<DWORD>(list_.size()), ACL_REVISION);
  if (self.sid() != nullptr) AddAccessAllowedAce(list, ACL_REVISION, GENERIC_ALL, self.sid());
  InitializeSecurityDescriptor(&descriptor_, SECURITY_DESCRIPTOR_REVISION);
  SetSecurityDescriptorDacl(&descriptor_, TRUE, list, FALSE);
  // Block inherited permissions.
  SetSecurityDescriptorControl(&descriptor_, SE_DACL_PROTECTED, SE_DACL_PROTECTED);
  attributes_ = {sizeof attributes_, &descriptor_, FALSE};
}

UserSearch find_uid(const std::string&) {
  return {};
}

std::optional<std::string> process_user(std::uint32_t pid, std::optional<std::uint32_t>) {
  const platform::Handle process(OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, pid));
  if (!process) return std::nullopt;
  const UserToken of(process.get());
  if (of.sid() == nullptr) return std::nullopt;
  wchar_t name[256], domain[256];
  DWORD name_length = 256, domain_length = 256;
  SID_NAME_USE kind{};
  if (LookupAccountSidW(nullptr, of.sid(), name, &name_length, domain, &domain_length, &kind) == 0)
    return std::nullopt;
  return platform::to_utf8({name, name_length});
}

// Returns none: Windows has no PID namespaces.
std::optional<std::uint32_t> namespace_pid(std::uint32_t) {
  return std::nullopt;
}

std::optional<std::uint64_t> process_cpu_ns(const Roots&, std::uint32_t) {
  return std::nullopt;
}

std::optional<std::uint64_t> process_start(const Roots&, std::uint32_t pid) {
  return start_of(pid);
}

struct ProcessTree::State {
  const Member* find(std::uint32_t pid) const;
  void add(std::uint32_t pid);
  void add_descendants();

  std::vector<Member> members;
  std::string why_not;
};

const ProcessTree::Member* ProcessTree::State::find(std::uint32_t pid) const {
  const auto found = std::find_if(members.begin(), members.end(),
                                  [pid](const Member& each) { return each.pid == pid; });
  return found == members.end() ? nullptr : &*found;
}

void ProcessTree::State::add(std::uint32_t pid) {
  if (find(pid) != nullptr) return;
  if (const auto start = start_of(pid)) members.push_back({pid, *start});
}

// Adds children that are no older than their parent: a process keeps the number of a parent that
// has ended, which may have been reused.
void ProcessTree::State::add_descendants() {
  const auto all = all_processes(why_not);
  for (bool grew = true; grew;) {
    grew = false;
    for (const auto& each : all) {
      const auto* parent = find(each.parent);
      if (parent == nullptr || find(each.pid) != nullptr) continue;
      const auto start = start_of(each.pid);
      if (!start || *start < parent->start) continue;
      members.push_back({each.pid, *start});
      grew = true;
    }
  }
}

ProcessTree::ProcessTree(const Roots&, std::uint32_t root_pid, bool)
    : state_(std::make_unique<State>()) {
  state_->add(root_pid);
}

ProcessTree::~ProcessTree() = default;

void ProcessTree::refresh(const std::vector<std::uint32_t>& also) {
  std::erase_if(state_->members,
                [](const Member& each) { return start_of(each.pid) != each.start; });
  for (const auto pid : also) state_->add(pid);
  state_->add_descendants();
}

const std::vector<ProcessTree::Member>& ProcessTree::members() const {
  return state_->members;
}

const std::string& ProcessTree::why_not() const {
  return state_->why_not;
}

}  // namespace hmn::cli
