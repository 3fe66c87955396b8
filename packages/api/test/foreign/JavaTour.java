import io.lakefs.clients.sdk.ApiClient;
import io.lakefs.clients.sdk.ApiException;
import io.lakefs.clients.sdk.AuthApi;
import io.lakefs.clients.sdk.BranchesApi;
import io.lakefs.clients.sdk.CommitsApi;
import io.lakefs.clients.sdk.ConfigApi;
import io.lakefs.clients.sdk.ExperimentalApi;
import io.lakefs.clients.sdk.HealthCheckApi;
import io.lakefs.clients.sdk.ImportApi;
import io.lakefs.clients.sdk.ObjectsApi;
import io.lakefs.clients.sdk.PullsApi;
import io.lakefs.clients.sdk.RefsApi;
import io.lakefs.clients.sdk.RepositoriesApi;
import io.lakefs.clients.sdk.StagingApi;
import io.lakefs.clients.sdk.TagsApi;
import io.lakefs.clients.sdk.auth.HttpBasicAuth;
import io.lakefs.clients.sdk.auth.HttpBearerAuth;
import io.lakefs.clients.sdk.model.*;
import java.io.File;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Collectors;

/** A tour of the service with the published Java client. Prints one line per step; any failure ends it. */
public class JavaTour {
  interface Call {
    void run() throws Exception;
  }

  final String endpoint;
  final String accessKeyId;
  final String secretAccessKey;
  final String namespace;
  final String importSource;
  final String name = "java-" + UUID.randomUUID().toString().substring(0, 8);

  final ApiClient client;
  final RepositoriesApi repositories;
  final BranchesApi branches;
  final ObjectsApi objects;
  final CommitsApi commits;
  final RefsApi refs;
  final TagsApi tags;
  final AuthApi auth;

  Commit first;
  Commit second;

  JavaTour(String[] args) {
    endpoint = args[0];
    accessKeyId = args[1];
    secretAccessKey = args[2];
    namespace = args[3];
    importSource = args[4];
    client = clientOf(accessKeyId, secretAccessKey);
    repositories = new RepositoriesApi(client);
    branches = new BranchesApi(client);
    objects = new ObjectsApi(client);
    commits = new CommitsApi(client);
    refs = new RefsApi(client);
    tags = new TagsApi(client);
    auth = new AuthApi(client);
  }

  ApiClient clientOf(String accessKeyId, String secretAccessKey) {
    ApiClient client = new ApiClient();
    client.setBasePath(endpoint + "/api/v1");
    HttpBasicAuth basic = (HttpBasicAuth) client.getAuthentication("basic_auth");
    basic.setUsername(accessKeyId);
    basic.setPassword(secretAccessKey);
    return client;
  }

  static void check(boolean holds, String what) {
    if (!holds) throw new AssertionError(what);
  }

  static void equal(Object found, Object expected) {
    check(found.equals(expected), "expected " + expected + ", got " + found);
  }

  static void refused(int status, Call call) throws Exception {
    try {
      call.run();
    } catch (ApiException error) {
      check(error.getCode() == status, "expected " + status + ", got " + error.getCode() + " " + error.getResponseBody());
      return;
    }
    throw new AssertionError("expected " + status + ", got success");
  }

  ObjectStats put(String branch, String path, String text) throws Exception {
    File file = File.createTempFile("tour", ".txt");
    try {
      Files.writeString(file.toPath(), text);
      return objects.uploadObject(name, branch, path).content(file).execute();
    } finally {
      file.delete();
    }
  }

  String read(String ref, String path) throws Exception {
    return text(objects.getObject(name, ref, path).execute());
  }

  static String text(File download) throws Exception {
    try {
      return Files.readString(download.toPath());
    } finally {
      download.delete();
    }
  }

  Commit commit(String branch, String message) throws Exception {
    return commits.commit(name, branch, new CommitCreation().message(message)).execute();
  }

  void branch(String branch, String source) throws Exception {
    branches.createBranch(name, new BranchCreation().name(branch).source(source)).execute();
  }

  String head(String branch) throws Exception {
    return branches.getBranch(name, branch).execute().getCommitId();
  }

  static List<String> changes(DiffList list) {
    return list.getResults().stream().map(diff -> diff.getType().getValue() + " " + diff.getPath()).collect(Collectors.toList());
  }

  void repositories() throws Exception {
    check(new ConfigApi(client).getConfig().execute().getStorageConfig().getBlockstoreType() != null, "config");
    new HealthCheckApi(client).healthCheck().execute();
    Repository created = repositories.createRepository(
        new RepositoryCreation().name(name).storageNamespace(namespace + "/" + name)).execute();
    equal(created.getDefaultBranch(), "main");
    equal(repositories.getRepository(name).execute().getStorageNamespace(), namespace + "/" + name);
    equal(repositories.listRepositories().prefix(name).execute().getResults().size(), 1);
    refused(409, () -> repositories.createRepository(
        new RepositoryCreation().name(name).storageNamespace(namespace + "/x")).execute());
    refused(404, () -> repositories.getRepository("no-such-repository").execute());
  }

  void objects() throws Exception {
    ObjectStats stats = put("main", "data/a.txt", "one");
    equal(stats.getSizeBytes(), 3L);
    put("main", "data/b.txt", "bee");
    put("main", "top.txt", "top");
    equal(read("main", "data/a.txt"), "one");
    equal(text(objects.getObject(name, "main", "data/a.txt").range("bytes=1-").execute()), "ne");
    refused(416, () -> objects.getObject(name, "main", "data/a.txt").range("bytes=99-").execute());
    objects.headObject(name, "main", "data/a.txt").execute();
    equal(objects.statObject(name, "main", "data/a.txt").execute().getChecksum(), stats.getChecksum());
    List<String> listed = objects.listObjects(name, "main").delimiter("/").execute().getResults().stream()
        .map(item -> item.getPathType().getValue() + " " + item.getPath()).collect(Collectors.toList());
    equal(listed, List.of("common_prefix data/", "object top.txt"));
    ObjectStats copy = objects.copyObject(name, "main", "data/copy.txt", new ObjectCopyCreation().srcPath("data/a.txt")).execute();
    equal(copy.getChecksum(), stats.getChecksum());
    put("main", "data/more.txt", "more");
    check(objects.deleteObjects(name, "main", new PathList().paths(List.of("data/more.txt", "never-there"))).execute()
        .getErrors().isEmpty(), "bulk delete");
    objects.deleteObject(name, "main", "data/copy.txt").execute();
    refused(404, () -> objects.statObject(name, "main", "data/copy.txt").execute());
    objects.updateObjectUserMetadata(name, "main", "top.txt", new UpdateObjectUserMetadata().set(Map.of("k", "v"))).execute();
    equal(objects.statObject(name, "main", "top.txt").execute().getMetadata(), Map.of("k", "v"));
  }

  void commitsAndLog() throws Exception {
    first = commits.commit(name, "main", new CommitCreation().message("first").metadata(Map.of("who", "tour"))).execute();
    equal(commits.getCommit(name, first.getId()).execute().getMetadata(), Map.of("who", "tour"));
    List<String> log = refs.logCommits(name, "main").execute().getResults().stream()
        .map(Commit::getMessage).collect(Collectors.toList());
    equal(log, List.of("first", "Repository created"));
    equal(refs.logCommits(name, "main").objects(List.of("top.txt")).amount(1).limit(true).execute()
        .getResults().get(0).getId(), first.getId());
    equal(refs.logCommits(name, "main").prefixes(List.of("nowhere/")).execute().getResults().size(), 0);
    refused(400, () -> commit("main", "nothing changed"));
  }

  void branchesAndDiff() throws Exception {
    branch("dev", "main");
    equal(head("dev"), first.getId());
    refused(409, () -> branch("dev", "main"));
    put("dev", "data/a.txt", "two");
    put("dev", "new.txt", "new");
    objects.deleteObject(name, "dev", "data/b.txt").execute();
    List<String> expected = List.of("changed data/a.txt", "removed data/b.txt", "added new.txt");
    equal(changes(branches.diffBranch(name, "dev").execute()), expected);
    equal(changes(branches.diffBranch(name, "dev").delimiter("/").execute()), List.of("prefix_changed data/", "added new.txt"));
    second = commit("dev", "second");
    equal(changes(branches.diffBranch(name, "dev").execute()), List.of());

    equal(changes(refs.diffRefs(name, "main", "dev").execute()), expected);
    equal(changes(refs.diffRefs(name, "main", "dev").type("two_dot").execute()), expected);
    equal(changes(refs.diffRefs(name, "dev", "main").type("two_dot").execute()),
        List.of("changed data/a.txt", "added data/b.txt", "removed new.txt"));
    equal(changes(refs.diffRefs(name, "dev", "main").type("three_dot").execute()), List.of());
    equal(changes(refs.diffRefs(name, "main", "dev").prefix("data/").execute()),
        List.of("changed data/a.txt", "removed data/b.txt"));
    equal(changes(refs.diffRefs(name, "main", "dev").delimiter("/").execute()), List.of("prefix_changed data/", "added new.txt"));
    DiffList page = refs.diffRefs(name, "main", "dev").amount(1).execute();
    equal(changes(page), expected.subList(0, 1));
    check(page.getPagination().getHasMore(), "more changes");
    equal(changes(refs.diffRefs(name, "main", "dev").after(page.getPagination().getNextOffset()).execute()), expected.subList(1, 3));
  }

  void mergeWithConflicts() throws Exception {
    put("main", "data/a.txt", "three");
    Commit third = commit("main", "third");
    equal(changes(refs.diffRefs(name, "main", "dev").type("three_dot").execute()),
        List.of("conflict data/a.txt", "removed data/b.txt", "added new.txt"));
    refused(409, () -> refs.mergeIntoBranch(name, "dev", "main").execute());
    equal(head("main"), third.getId());
    FindMergeBaseResult base = refs.findMergeBase(name, "dev", "main").execute();
    equal(List.of(base.getBaseCommitId(), base.getSourceCommitId(), base.getDestinationCommitId()),
        List.of(first.getId(), second.getId(), third.getId()));
    branch("ours", "main");
    refs.mergeIntoBranch(name, "dev", "ours").merge(new Merge().strategy("dest-wins")).execute();
    equal(read("ours", "data/a.txt"), "three");
    equal(read("ours", "new.txt"), "new");
    String merged = refs.mergeIntoBranch(name, "dev", "main").merge(new Merge().strategy("source-wins").message("merged"))
        .execute().getReference();
    equal(read("main", "data/a.txt"), "two");
    equal(commits.getCommit(name, merged).execute().getParents(), List.of(third.getId(), second.getId()));
    refused(400, () -> refs.mergeIntoBranch(name, "dev", "main").execute());
  }

  void revertCherryPickAndResets() throws Exception {
    String merged = head("main");
    refused(409, () -> branches.revertBranch(name, "main", new RevertCreation().ref(merged).parentNumber(0)).execute());
    branches.revertBranch(name, "main", new RevertCreation().ref(merged).parentNumber(1)).execute();
    equal(read("main", "data/a.txt"), "three");
    branch("pick", first.getId());
    Commit picked = branches.cherryPick(name, "pick", new CherryPickCreation().ref(second.getId())).execute();
    equal(picked.getMetadata().get("cherry-pick-origin"), second.getId());
    equal(read("pick", "data/a.txt"), "two");
    branch("clash", "main");
    refused(409, () -> branches.cherryPick(name, "clash", new CherryPickCreation().ref(second.getId())).execute());
    put("pick", "scratch", "x");
    branches.resetBranch(name, "pick", new ResetCreation().type(ResetCreation.TypeEnum.RESET)).execute();
    equal(changes(branches.diffBranch(name, "pick").execute()), List.of());
    new ExperimentalApi(client).hardResetBranch(name, "pick", first.getId()).execute();
    equal(head("pick"), first.getId());
  }

  void tags() throws Exception {
    Ref tag = tags.createTag(name, new TagCreation().id("v1").ref("main")).execute();
    equal(tag.getCommitId(), head("main"));
    equal(tags.getTag(name, "v1").execute().getCommitId(), tag.getCommitId());
    equal(tags.listTags(name).execute().getResults().size(), 1);
    equal(read("v1", "data/a.txt"), "three");
    refused(409, () -> tags.createTag(name, new TagCreation().id("v1").ref("dev")).execute());
    tags.deleteTag(name, "v1").execute();
    refused(404, () -> tags.getTag(name, "v1").execute());
  }

  void linkedObject() throws Exception {
    StagingApi staging = new StagingApi(client);
    StagingLocation location = staging.getPhysicalAddress(name, "dev", "linked.txt").execute();
    Path file = Path.of(URI.create(location.getPhysicalAddress()).getPath());
    Files.createDirectories(file.getParent());
    Files.writeString(file, "linked");
    StagingMetadata metadata = new StagingMetadata().staging(location).checksum("of the writer").sizeBytes(6L);
    staging.linkPhysicalAddress(name, "dev", "linked.txt", metadata).execute();
    equal(read("dev", "linked.txt"), "linked");
    refused(400, () -> staging.linkPhysicalAddress(name, "dev", "again.txt", metadata).execute());
    commit("dev", "linked");
  }

  void protectionAndRetention() throws Exception {
    repositories.setBranchProtectionRules(name, List.of(new BranchProtectionRule().pattern("stable*"))).execute();
    equal(repositories.getBranchProtectionRules(name).execute().get(0).getPattern(), "stable*");
    branch("stable", "main");
    refused(403, () -> put("stable", "x", "x"));
    repositories.setGCRules(name, new GarbageCollectionRules().defaultRetentionDays(7).branches(List.of())).execute();
    equal(repositories.getGCRules(name).execute().getDefaultRetentionDays(), 7);
  }

  void pullRequests() throws Exception {
    PullsApi pulls = new PullsApi(client);
    String id = pulls.createPullRequest(name,
        new PullRequestCreation().title("t").sourceBranch("dev").destinationBranch("pick")).execute().getId();
    pulls.updatePullRequest(name, id, new PullRequestBasic().description("d")).execute();
    equal(pulls.listPullRequests(name).execute().getResults().get(0).getDescription(), "d");
    check(!pulls.mergePullRequest(name, id).execute().getReference().isEmpty(), "merged");
    equal(pulls.getPullRequest(name, id).execute().getStatus().getValue(), "merged");
  }

  void importing() throws Exception {
    ImportApi imports = new ImportApi(client);
    ImportLocation location = new ImportLocation()
        .type(ImportLocation.TypeEnum.COMMON_PREFIX).path(importSource).destination("imported/");
    ImportCreation creation = new ImportCreation().addPathsItem(location).commit(new CommitCreation().message("import"));
    String id = imports.importStart(name, "main", creation).execute().getId();
    ImportStatus status = imports.importStatus(name, "main", id).execute();
    for (int round = 0; round < 100 && !status.getCompleted(); round += 1) {
      check(status.getError() == null, "import: " + status.getError());
      Thread.sleep(100);
      status = imports.importStatus(name, "main", id).execute();
    }
    check(status.getCompleted(), "import");
    equal(status.getCommit().getMessage(), "import");
    List<String> found = objects.listObjects(name, "main").prefix("imported/").execute().getResults().stream()
        .map(ObjectStats::getPath).collect(Collectors.toList());
    equal(found, List.of("imported/one.txt", "imported/two.txt"));
    equal(read("main", "imported/one.txt"), "1");
  }

  /** The client has no transactions of its own: this is what those of other clients do. */
  void transaction() throws Exception {
    branches.createBranch(name, new BranchCreation().name("tx-java").source("main").hidden(true)).execute();
    check(branches.listBranches(name).execute().getResults().stream().noneMatch(ref -> ref.getId().equals("tx-java")), "hidden");
    put("tx-java", "in-tx.txt", "tx");
    refused(404, () -> objects.statObject(name, "main", "in-tx.txt").execute());
    commit("tx-java", "in a transaction");
    refs.mergeIntoBranch(name, "tx-java", "main").merge(new Merge().squashMerge(true).message("transaction")).execute();
    branches.deleteBranch(name, "tx-java").execute();
    equal(read("main", "in-tx.txt"), "tx");
    equal(commits.getCommit(name, head("main")).execute().getParents().size(), 1);
  }

  void usersGroupsAndPolicies() throws Exception {
    String policy = "policy-" + name;
    User user = auth.createUser().userCreation(new UserCreation().id("user-" + name)).execute();
    Group group = auth.createGroup().groupCreation(new GroupCreation().id("group-" + name)).execute();
    Statement reading = new Statement().effect(Statement.EffectEnum.ALLOW).resource("*").action(List.of("fs:Read*", "fs:List*"));
    auth.createPolicy(new Policy().id(policy).statement(List.of(reading))).execute();
    equal(auth.getPolicy(policy).execute().getStatement().get(0).getAction(), List.of("fs:Read*", "fs:List*"));
    auth.addGroupMembership(group.getId(), user.getId()).execute();
    auth.attachPolicyToGroup(group.getId(), policy).execute();
    equal(auth.listGroupMembers(group.getId()).execute().getResults().size(), 1);
    equal(auth.listUserGroups(user.getId()).execute().getResults().get(0).getId(), group.getId());
    equal(auth.listUserPolicies(user.getId()).effective(true).execute().getResults().get(0).getId(), policy);

    CredentialsWithSecret key = auth.createCredentials(user.getId()).execute();
    equal(key.getSecretAccessKey().length(), 40);
    ObjectsApi asUser = new ObjectsApi(clientOf(key.getAccessKeyId(), key.getSecretAccessKey()));
    equal(text(asUser.getObject(name, "dev", "new.txt").execute()), "new");
    refused(401, () -> asUser.deleteObject(name, "main", "top.txt").execute());
    Statement deleting = new Statement().effect(Statement.EffectEnum.ALLOW).resource("*").action(List.of("fs:DeleteObject"));
    auth.updatePolicy(policy, new Policy().id(policy).statement(List.of(reading, deleting))).execute();
    asUser.deleteObject(name, "main", "top.txt").execute();
    equal(auth.listUserCredentials(user.getId()).execute().getResults().get(0).getAccessKeyId(), key.getAccessKeyId());
    auth.deleteCredentials(user.getId(), key.getAccessKeyId()).execute();
    refused(401, () -> asUser.statObject(name, "main", "data/a.txt").execute());

    String token = auth.login().loginInformation(
        new LoginInformation().accessKeyId(accessKeyId).secretAccessKey(secretAccessKey)).execute().getToken();
    ApiClient bearer = new ApiClient();
    bearer.setBasePath(endpoint + "/api/v1");
    ((HttpBearerAuth) bearer.getAuthentication("jwt_token")).setBearerToken(token);
    check(new AuthApi(bearer).getCurrentUser().execute().getUser().getId() != null, "token");

    auth.deleteUser(user.getId()).execute();
    auth.deleteGroup(group.getId()).execute();
    auth.deletePolicy(policy).execute();
    refused(404, () -> auth.getUser(user.getId()).execute());
  }

  void deletion() throws Exception {
    branches.deleteBranch(name, "dev").execute();
    refused(404, () -> branches.getBranch(name, "dev").execute());
    repositories.deleteRepository(name).execute();
    refused(404, () -> repositories.getRepository(name).execute());
  }

  static void step(String what, Call call) throws Exception {
    call.run();
    System.out.println("ok " + what);
  }

  public static void main(String[] args) throws Exception {
    JavaTour tour = new JavaTour(args);
    step("repositories", tour::repositories);
    step("objects", tour::objects);
    step("commits and log", tour::commitsAndLog);
    step("branches and diff in every form", tour::branchesAndDiff);
    step("merge with conflicts", tour::mergeWithConflicts);
    step("revert, cherry-pick and resets", tour::revertCherryPickAndResets);
    step("tags", tour::tags);
    step("an object linked by its address", tour::linkedObject);
    step("protection and retention", tour::protectionAndRetention);
    step("pull requests", tour::pullRequests);
    step("import", tour::importing);
    step("a transaction", tour::transaction);
    step("users, groups, policies and tokens", tour::usersGroupsAndPolicies);
    step("deletion", tour::deletion);
    System.out.println("done");
    System.exit(0);
  }
}
