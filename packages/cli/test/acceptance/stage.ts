import { tempDir } from '@svc/testing';
import { startSvc, Tool, type Server } from '../start-svc.ts';

/** A server with the repository `repo1`, and the tool as people run it. */
export class Stage {
  readonly server: Server;
  readonly tool: Tool;
  /** Where data lies that can be imported. */
  readonly external: string;

  private constructor(server: Server, external: string) {
    this.server = server;
    this.external = external;
    this.tool = new Tool(server.url);
  }

  static async open(): Promise<Stage> {
    const external = tempDir();
    const server = await startSvc({
      SVC_BLOCKSTORE_LOCAL_IMPORT_ENABLED: 'true',
      SVC_BLOCKSTORE_LOCAL_ALLOWED_EXTERNAL_PREFIXES: external,
    });
    const stage = new Stage(server, external);
    await stage.tool.ok(['repo', 'create', 'svc://repo1', 'local://repo1']);
    return stage;
  }

  async put(path: string, text = path): Promise<void> {
    await this.tool.ok(['fs', 'upload', '-s', '-', `svc://repo1/${path}`], { input: text });
  }
}
