import io.lakefs.clients.sdk.ApiClient;
import io.lakefs.clients.sdk.ApiException;
import io.lakefs.clients.sdk.AuthApi;
import io.lakefs.clients.sdk.BranchesApi;
import io.lakefs.clients.sdk.CommitsApi;
import io.lakefs.clients.sdk.ConfigApi;
import io.lakefs.clients.sdk.Configuration;
import io.lakefs.clients.sdk.ObjectsApi;
import io.lakefs.clients.sdk.RefsApi;
import io.lakefs.clients.sdk.RepositoriesApi;
import io.lakefs.clients.sdk.StagingApi;
import io.lakefs.clients.sdk.TagsApi;
import io.lakefs.clients.sdk.auth.HttpBasicAuth;
import io.lakefs.clients.sdk.model.*;
import java.io.File;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Collectors;

/** A tour of the service with the published Java client. Prints one line per step; any failure ends it. */
public class JavaTour {
  interface Call {
    void run() throws Exception;
  }

  static void check(boolean holds, String what) {
    if (!holds) throw new AssertionError(what);
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

  static File file(String text) throws Exception {
    File file = File.createTempFile("tour", ".txt");
    file.deleteOnExit();
    Files.writeString(file.toPath(), text);
    return file;
  }

  static List<String> changes(DiffList list) {
    return list.getResults().stream().map(diff -> diff.getType().getValue() + " " + diff.getPath()).collect(Collectors.toList());
  }

  public static void main(String[] args) throws Exception {
    ApiClient client = Configuration.getDefaultApiClient();
    client.setBasePath(args[0] + "/api/v1");
    HttpBasicAuth basic = (HttpBasicAuth) client.getAuthentication("basic_auth");
    basic.setUsername(args[1]);
    basic.setPassword(args[2]);
    String name = "java-" + UUID.randomUUID().toString().substring(0, 8);

    RepositoriesApi repositories = new RepositoriesApi(client);
    BranchesApi branches = new BranchesApi(client);
    ObjectsApi objects = new ObjectsApi(client);
    CommitsApi commits = new CommitsApi(client);
    RefsApi refs = new RefsApi(client);
    TagsApi tags = new TagsApi(client);
    AuthApi auth = new AuthApi(client);

    check(new ConfigApi(client).getConfig().execute().getStorageConfig().getBlockstoreType() != null, "config");
    Repository created = repositories.createRepository(
        new RepositoryCreation().name(name).storageNamespace(args[3] + "/" + name)).execute();
    check(created.getDefaultBranch().equals("main"), "default branch");
    check(repositories.listRepositories().prefix(name).execute().getResults().size() == 1, "list of repositories");
    refused(404, () -> repositories.getRepository("no-such-repository").execute());
    System.out.println("ok repositories");

    ObjectStats stats = objects.uploadObject(name, "main", "data/a.txt").content(file("one")).execute();
    check(stats.getSizeBytes() == 3, "size");
    check(Files.readString(objects.getObject(name, "main", "data/a.txt").execute().toPath()).equals("one"), "content");
    check(objects.statObject(name, "main", "data/a.txt").execute().getChecksum().equals(stats.getChecksum()), "checksum");
    check(objects.listObjects(name, "main").delimiter("/").execute().getResults().get(0).getPath().equals("data/"), "list");
    System.out.println("ok objects");

    Commit first = commits.commit(name, "main", new CommitCreation().message("first").metadata(Map.of("k", "v"))).execute();
    check(refs.logCommits(name, "main").execute().getResults().get(0).getId().equals(first.getId()), "log");
    refused(400, () -> commits.commit(name, "main", new CommitCreation().message("again")).execute());
    System.out.println("ok commits");

    branches.createBranch(name, new BranchCreation().name("dev").source("main")).execute();
    objects.uploadObject(name, "dev", "data/a.txt").content(file("two")).execute();
    objects.uploadObject(name, "dev", "b.txt").content(file("b")).execute();
    check(changes(branches.diffBranch(name, "dev").execute()).equals(List.of("added b.txt", "changed data/a.txt")), "uncommitted");
    commits.commit(name, "dev", new CommitCreation().message("second")).execute();
    check(changes(refs.diffRefs(name, "main", "dev").execute()).equals(List.of("added b.txt", "changed data/a.txt")), "diff");
    objects.uploadObject(name, "main", "data/a.txt").content(file("three")).execute();
    commits.commit(name, "main", new CommitCreation().message("third")).execute();
    refused(409, () -> refs.mergeIntoBranch(name, "dev", "main").execute());
    MergeResult merged = refs.mergeIntoBranch(name, "dev", "main").merge(new Merge().strategy("source-wins")).execute();
    branches.revertBranch(name, "main", new RevertCreation().ref(merged.getReference()).parentNumber(1)).execute();
    check(Files.readString(objects.getObject(name, "main", "data/a.txt").execute().toPath()).equals("three"), "reverted");
    System.out.println("ok branches, diff, merge and revert");

    tags.createTag(name, new TagCreation().id("v1").ref("main")).execute();
    check(tags.listTags(name).execute().getResults().size() == 1, "tags");
    StagingLocation staging = new StagingApi(client).getPhysicalAddress(name, "main", "linked").execute();
    check(staging.getPhysicalAddress() != null, "physical address");
    System.out.println("ok tags and staging");

    User user = auth.createUser().userCreation(new UserCreation().id("user-" + name)).execute();
    Group group = auth.createGroup().groupCreation(new GroupCreation().id("group-" + name)).execute();
    auth.addGroupMembership(group.getId(), user.getId()).execute();
    check(auth.listGroupMembers(group.getId()).execute().getResults().size() == 1, "members");
    check(auth.createCredentials(user.getId()).execute().getSecretAccessKey().length() == 40, "secret");
    auth.deleteUser(user.getId()).execute();
    auth.deleteGroup(group.getId()).execute();
    System.out.println("ok users and groups");

    repositories.deleteRepository(name).execute();
    System.out.println("done");
    System.exit(0);
  }
}
