"""A tour of the service with clients nobody here wrote. Prints one line per step; any failure ends it."""

import os
import sys
import tempfile
import time
import uuid

import lakefs
import lakefs_sdk
from lakefs.client import Client
from lakefs_sdk import exceptions, models

endpoint, access_key, secret_key, namespace, import_source = sys.argv[1:6]
os.environ["LAKECTL_SERVER_ENDPOINT_URL"] = endpoint
os.environ["LAKECTL_CREDENTIALS_ACCESS_KEY_ID"] = access_key
os.environ["LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY"] = secret_key


def step(name):
    print(f"ok {name}", flush=True)


def refused(status, call, *args, **kwargs):
    try:
        call(*args, **kwargs)
    except exceptions.ApiException as error:
        assert error.status == status, f"expected {status}, got {error.status}: {error.body}"
        return error
    raise AssertionError(f"expected {status}, got success")


configuration = lakefs_sdk.Configuration(host=f"{endpoint}/api/v1", username=access_key, password=secret_key)
api = lakefs_sdk.ApiClient(configuration)
repositories = lakefs_sdk.RepositoriesApi(api)
branches = lakefs_sdk.BranchesApi(api)
tags = lakefs_sdk.TagsApi(api)
commits = lakefs_sdk.CommitsApi(api)
objects = lakefs_sdk.ObjectsApi(api)
refs = lakefs_sdk.RefsApi(api)
auth = lakefs_sdk.AuthApi(api)
imports = lakefs_sdk.ImportApi(api)
config = lakefs_sdk.ConfigApi(api)
pulls = lakefs_sdk.PullsApi(api)

name = f"tour-{uuid.uuid4().hex[:8]}"


def put(branch, path, text):
    with tempfile.NamedTemporaryFile() as file:
        file.write(text.encode())
        file.flush()
        return objects.upload_object(name, branch, path, content=file.name)


def commit(branch, message, **metadata):
    return commits.commit(name, branch, models.CommitCreation(message=message, metadata=metadata))


# --- the generated SDK -------------------------------------------------------------------------------------
assert config.get_config().storage_config.blockstore_type
lakefs_sdk.HealthCheckApi(api).health_check()
step("config and health")

created = repositories.create_repository(
    models.RepositoryCreation(name=name, storage_namespace=f"{namespace}/{name}", default_branch="main")
)
assert created.id == name and created.default_branch == "main"
assert repositories.get_repository(name).storage_namespace == f"{namespace}/{name}"
assert name in [found.id for found in repositories.list_repositories(prefix="tour-").results]
refused(409, repositories.create_repository, models.RepositoryCreation(name=name, storage_namespace=f"{namespace}/x"))
refused(404, repositories.get_repository, "no-such-repository")
step("repositories")

stats = put("main", "data/a.txt", "one")
assert stats.size_bytes == 3 and stats.path == "data/a.txt"
put("main", "data/b.txt", "bee")
put("main", "top.txt", "top")
assert objects.get_object(name, "main", "data/a.txt") == b"one"
assert objects.get_object(name, "main", "data/a.txt", range="bytes=1-") == b"ne"
assert objects.stat_object(name, "main", "data/a.txt").checksum == stats.checksum
listed = objects.list_objects(name, "main", delimiter="/")
assert [(item.path, item.path_type) for item in listed.results] == [("data/", "common_prefix"), ("top.txt", "object")]
copied = objects.copy_object(name, "main", "data/copy.txt", models.ObjectCopyCreation(src_path="data/a.txt"))
assert copied.checksum == stats.checksum
objects.delete_object(name, "main", "data/copy.txt")
refused(404, objects.stat_object, name, "main", "data/copy.txt")
refused(416, objects.get_object, name, "main", "data/a.txt", range="bytes=99-")
step("objects")

first = commit("main", "first", who="tour")
assert first.metadata == {"who": "tour"} and len(first.parents) == 1
assert commits.get_commit(name, first.id).message == "first"
log = refs.log_commits(name, "main")
assert [entry.message for entry in log.results] == ["first", "Repository created"]
assert refs.log_commits(name, "main", objects=["top.txt"], amount=1, limit=True).results[0].id == first.id
refused(400, commit, "main", "nothing changed")
step("commits and log")

branches.create_branch(name, models.BranchCreation(name="dev", source="main"))
assert branches.get_branch(name, "dev").commit_id == first.id
assert [branch.id for branch in branches.list_branches(name).results] == ["dev", "main"]
refused(409, branches.create_branch, name, models.BranchCreation(name="dev", source="main"))
put("dev", "data/a.txt", "two")
put("dev", "new.txt", "new")
objects.delete_object(name, "dev", "data/b.txt")


def changes(page):
    return [(item.type, item.path) for item in page.results]


expected = [("changed", "data/a.txt"), ("removed", "data/b.txt"), ("added", "new.txt")]
assert changes(branches.diff_branch(name, "dev")) == expected
assert changes(branches.diff_branch(name, "dev", delimiter="/")) == [("prefix_changed", "data/"), ("added", "new.txt")]
second = commit("dev", "second")
assert changes(branches.diff_branch(name, "dev")) == []
assert changes(refs.diff_refs(name, "main", "dev")) == expected
assert changes(refs.diff_refs(name, "main", "dev", type="two_dot")) == expected
assert changes(refs.diff_refs(name, "main", "dev", delimiter="/")) == [("prefix_changed", "data/"), ("added", "new.txt")]
assert changes(refs.diff_refs(name, "dev", "main", type="two_dot")) == [
    ("changed", "data/a.txt"),
    ("added", "data/b.txt"),
    ("removed", "new.txt"),
]
assert changes(refs.diff_refs(name, "dev", "main", type="three_dot")) == []
assert changes(refs.diff_refs(name, "main", "dev", prefix="data/")) == expected[:2]
page = refs.diff_refs(name, "main", "dev", amount=1)
assert changes(page) == expected[:1] and page.pagination.has_more
assert changes(refs.diff_refs(name, "main", "dev", after=page.pagination.next_offset)) == expected[1:]
assert refs.diff_refs(name, "main", "dev", include_right_stats=True).results[0].right.checksum
step("branches and diff in every form")

put("main", "data/a.txt", "three")
third = commit("main", "third")
assert changes(refs.diff_refs(name, "main", "dev", type="three_dot"))[0] == ("conflict", "data/a.txt")
refused(409, refs.merge_into_branch, name, "dev", "main")
assert branches.get_branch(name, "main").commit_id == third.id
branches.create_branch(name, models.BranchCreation(name="ours", source="main"))
refs.merge_into_branch(name, "dev", "ours", merge=models.Merge(strategy="dest-wins"))
assert objects.get_object(name, "ours", "data/a.txt") == b"three"
base = refs.find_merge_base(name, "dev", "main")
assert (base.base_commit_id, base.source_commit_id) == (first.id, second.id)
merged = refs.merge_into_branch(name, "dev", "main", merge=models.Merge(strategy="source-wins", message="merged"))
assert objects.get_object(name, "main", "data/a.txt") == b"two"
merge_commit = commits.get_commit(name, merged.reference)
assert merge_commit.parents == [third.id, second.id]
refused(400, refs.merge_into_branch, name, "dev", "main")
step("merge with conflicts")

refused(409, branches.revert_branch, name, "main", models.RevertCreation(ref=merged.reference, parent_number=0))
branches.revert_branch(name, "main", models.RevertCreation(ref=merged.reference, parent_number=1))
assert objects.get_object(name, "main", "data/a.txt") == b"three"
branches.create_branch(name, models.BranchCreation(name="pick", source=first.id))
picked = branches.cherry_pick(name, "pick", models.CherryPickCreation(ref=second.id))
assert picked.metadata["cherry-pick-origin"] == second.id
branches.create_branch(name, models.BranchCreation(name="clash", source="main"))
refused(409, branches.cherry_pick, name, "clash", models.CherryPickCreation(ref=second.id))
put("pick", "scratch", "x")
branches.reset_branch(name, "pick", models.ResetCreation(type="reset"))
assert changes(branches.diff_branch(name, "pick")) == []
lakefs_sdk.ExperimentalApi(api).hard_reset_branch(name, "pick", first.id)
assert branches.get_branch(name, "pick").commit_id == first.id
step("revert, cherry-pick and resets")

tag = tags.create_tag(name, models.TagCreation(id="v1", ref="main"))
assert tags.get_tag(name, "v1").commit_id == tag.commit_id
assert [found.id for found in tags.list_tags(name).results] == ["v1"]
tags.delete_tag(name, "v1")
refused(404, tags.get_tag, name, "v1")
step("tags")

objects.update_object_user_metadata(name, "main", "top.txt", models.UpdateObjectUserMetadata(set={"k": "v"}))
assert objects.stat_object(name, "main", "top.txt").metadata == {"k": "v"}
failed = objects.delete_objects(name, "main", models.PathList(paths=["top.txt", "never-there"]))
assert failed.errors == []
commit("main", "clean")
step("metadata and bulk delete")

repositories.set_branch_protection_rules(name, [models.BranchProtectionRule(pattern="stable*")])
assert [rule.pattern for rule in repositories.get_branch_protection_rules(name)] == ["stable*"]
branches.create_branch(name, models.BranchCreation(name="stable", source="main"))
refused(403, put, "stable", "x", "x")
repositories.set_gc_rules(name, models.GarbageCollectionRules(default_retention_days=7, branches=[]))
assert repositories.get_gc_rules(name).default_retention_days == 7
step("protection and retention")

pull = pulls.create_pull_request(name, models.PullRequestCreation(title="t", source_branch="dev", destination_branch="pick"))
assert pulls.get_pull_request(name, pull.id).status == "open"
pulls.update_pull_request(name, pull.id, models.PullRequestBasic(description="d"))
assert pulls.list_pull_requests(name).results[0].description == "d"
assert pulls.merge_pull_request(name, pull.id).reference
assert pulls.get_pull_request(name, pull.id).status == "merged"
step("pull requests")

assert config.get_config().storage_config.import_support
started = imports.import_start(
    name,
    "main",
    models.ImportCreation(
        paths=[models.ImportLocation(type="common_prefix", path=import_source, destination="imported/")],
        commit=models.CommitCreation(message="import"),
    ),
)
for _ in range(100):
    status = imports.import_status(name, "main", started.id)
    assert status.error is None, status.error
    if status.completed:
        break
    time.sleep(0.1)
assert status.completed and status.commit.message == "import", status
found = objects.list_objects(name, "main", prefix="imported/").results
assert [item.path for item in found] == ["imported/one.txt", "imported/two.txt"], found
assert objects.get_object(name, "main", "imported/one.txt") == b"1"
step("import")

user = auth.create_user(user_creation=models.UserCreation(id=f"user-{name}"))
group = auth.create_group(group_creation=models.GroupCreation(id=f"group-{name}"))
auth.create_policy(
    models.Policy(
        id=f"policy-{name}",
        statement=[models.Statement(effect="allow", resource="*", action=["fs:Read*", "fs:List*"])],
    )
)
auth.add_group_membership(group.id, user.id)
auth.attach_policy_to_group(group.id, f"policy-{name}")
credentials = auth.create_credentials(user.id)
assert [member.id for member in auth.list_group_members(group.id).results] == [user.id]
reader = lakefs_sdk.ApiClient(
    lakefs_sdk.Configuration(
        host=f"{endpoint}/api/v1", username=credentials.access_key_id, password=credentials.secret_access_key
    )
)
assert lakefs_sdk.ObjectsApi(reader).get_object(name, "dev", "new.txt") == b"new"
refused(401, lakefs_sdk.ObjectsApi(reader).delete_object, name, "main", "data/a.txt")
assert [policy.id for policy in auth.list_user_policies(user.id, effective=True).results] == [f"policy-{name}"]
token = auth.login(login_information=models.LoginInformation(access_key_id=access_key, secret_access_key=secret_key)).token
bearer = lakefs_sdk.ApiClient(lakefs_sdk.Configuration(host=f"{endpoint}/api/v1", access_token=token))
assert lakefs_sdk.AuthApi(bearer).get_current_user().user.id
auth.delete_user(user.id)
auth.delete_group(group.id)
auth.delete_policy(f"policy-{name}")
step("users, groups, policies and tokens")

# --- the high-level package --------------------------------------------------------------------------------
client = Client(host=endpoint, username=access_key, password=secret_key)
high = lakefs.Repository(f"{name}-high", client=client).create(storage_namespace=f"{namespace}/{name}-high")
main = high.branch("main")
main.object("readme.md").upload(data="hello", content_type="text/markdown", metadata={"a": "b"})
with main.object("lines.txt").writer("w") as out:
    out.write("1\n2\n3\n")
with main.object("lines.txt").reader("r") as source:
    assert source.read() == "1\n2\n3\n"
assert main.object("readme.md").exists() and not main.object("none").exists()
main.commit("from the high-level package", metadata={"by": "python"})
assert [entry.message for entry in main.log(max_amount=1)] == ["from the high-level package"]
with main.transact(commit_message="in a transaction") as transaction:
    transaction.object("in-tx.txt").upload(data=b"tx")
assert main.object("in-tx.txt").reader("rb").read() == b"tx"
assert [branch.id for branch in high.branches()] == ["main"], "the transaction's branch is gone and was hidden"
topic = high.branch("topic").create(source_reference="main")
topic.object("topic.txt").upload(data="t")
assert [change.path for change in topic.uncommitted()] == ["topic.txt"]
topic.commit("topic")
assert [change.path for change in main.diff(topic)] == ["topic.txt"]
topic.merge_into(main)
high.tag("v1").create("main")
assert [found.id for found in high.tags()] == ["v1"]
assert high.tag("v1").get_commit().id == main.get_commit().id
assert sorted(item.path for item in main.objects()) == ["in-tx.txt", "lines.txt", "readme.md", "topic.txt"]
with main.object("empty").writer("wb"):
    pass
main.delete_objects(["empty"])

main.object("topic.txt").upload(data="here")
main.commit("here")
topic.object("topic.txt").upload(data="there")
theirs = topic.commit("there").get_commit()
assert [(change.type, change.path) for change in main.diff(topic, type="three_dot")] == [("conflict", "topic.txt")]
assert [(change.type, change.path) for change in main.diff(topic, type="two_dot")] == [("changed", "topic.txt")]
try:
    topic.merge_into(main)
    raise AssertionError("a conflict was merged")
except lakefs.exceptions.ConflictException:
    pass
merged = topic.merge_into(main, strategy="source-wins")
assert main.object("topic.txt").reader("r").read() == "there"
main.revert(merged, parent_number=1)
assert main.object("topic.txt").reader("r").read() == "here"
picked = high.branch("picked").create(source_reference=f"{theirs.id}~1")
picked.cherry_pick(theirs.id)
assert picked.object("topic.txt").reader("r").read() == "there"
status = main.import_data(commit_message="import").prefix(import_source, destination="imported/").run()
assert status.completed and status.ingested_objects == 2
assert [item.path for item in main.objects(prefix="imported/")] == ["imported/one.txt", "imported/two.txt"]
high.delete()
step("the high-level package with transactions, conflicts, reverts, picks and import")

# --- the file system ---------------------------------------------------------------------------------------
from lakefs_spec import LakeFSFileSystem  # noqa: E402

fs = LakeFSFileSystem(host=endpoint, username=access_key, password=secret_key)
root = f"{name}/main"
with fs.open(f"{root}/spec/file.txt", "wb") as out:
    out.write(b"written by fsspec")
assert fs.cat_file(f"{root}/spec/file.txt") == b"written by fsspec"
with fs.open(f"{root}/spec/file.txt", "rb") as source:
    source.seek(8)
    assert source.read() == b"by fsspec"
assert fs.exists(f"{root}/spec/file.txt") and fs.info(f"{root}/spec/file.txt")["size"] == 17
assert [entry.rstrip("/").split("/")[-1] for entry in fs.ls(f"{root}/spec/", detail=False)] == ["file.txt"]
fs.cp_file(f"{root}/spec/file.txt", f"{root}/spec/copy.txt")
fs.rm(f"{root}/spec/copy.txt")
assert not fs.exists(f"{root}/spec/copy.txt")
fs.put_file(__file__, f"{root}/spec/tour.py", precheck=False)
with tempfile.TemporaryDirectory() as folder:
    fs.get_file(f"{root}/spec/tour.py", f"{folder}/tour.py")
    assert open(f"{folder}/tour.py", "rb").read() == open(__file__, "rb").read()
commit("main", "written by fsspec")
with fs.transaction(name, "main") as tx:
    fs.pipe_file(f"{name}/{tx.branch.id}/spec/tx.txt", b"tx")
    tx.commit(message="fsspec transaction")
assert fs.cat_file(f"{root}/spec/tx.txt") == b"tx"
with fs.transaction(name, "main") as tx:
    fs.pipe_file(f"{name}/{tx.branch.id}/spec/tx.txt", b"changed")
    changed = tx.commit(message="to be reverted")
    assert tx.rev_parse(tx.branch.id).id == changed.id
    tx.revert(tx.branch, tx.branch.id)
    tx.tag(changed, name="changed")
assert fs.cat_file(f"{root}/spec/tx.txt") == b"tx"
assert fs.cat_file(f"{name}/changed/spec/tx.txt") == b"changed"
step("the file system with transactions, reverts and tags")

repositories.delete_repository(name)
refused(404, repositories.get_repository, name)
print("done", flush=True)
