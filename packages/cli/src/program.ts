import { Command } from 'commander';
import { CommandContext, type GlobalOptions } from './context.ts';
import { collectList } from './list-flag.ts';
import { version } from './version.ts';

type Register = (program: Command) => void;

interface CommandModule {
  readonly name: string;
  readonly description: string;
  readonly aliases?: readonly string[];
  readonly hidden?: boolean;
  readonly load: () => Promise<{ register: Register }>;
}

/**
 * Every root command. Only the module of the command that is called is loaded, so that starting stays quick;
 * name, description and hidden state are repeated here for the root help (a test keeps them equal).
 */
export const commandModules: readonly CommandModule[] = [
  {
    name: 'branch',
    description: 'create, list, reset and revert branches',
    load: () => import('./commands/branch.ts'),
  },
  {
    name: 'branch-protect',
    description: 'protect branches by name pattern',
    load: () => import('./commands/branch-protect.ts'),
  },
  {
    name: 'cherry-pick',
    description: "apply another commit's changes to a branch",
    load: () => import('./commands/cherry-pick.ts'),
  },
  { name: 'commit', description: "commit a branch's changes", load: () => import('./commands/commit.ts') },
  {
    name: 'diff',
    description: 'show uncommitted changes of a branch, or the changes between two refs',
    load: () => import('./commands/diff.ts'),
  },
  {
    name: 'find-merge-base',
    description: 'find the commit two refs have in common',
    hidden: true,
    load: () => import('./commands/find-merge-base.ts'),
  },
  {
    name: 'fs',
    description: 'list, read, write and delete objects',
    load: () => import('./commands/fs/index.ts'),
  },
  {
    name: 'log',
    description: 'show the commits that led to a ref, newest first',
    load: () => import('./commands/log.ts'),
  },
  {
    name: 'merge',
    description: 'merge a ref into a branch, all or nothing',
    load: () => import('./commands/merge.ts'),
  },
  {
    name: 'repo',
    description: 'create, list and delete repositories',
    load: () => import('./commands/repo.ts'),
  },
  { name: 'show', description: 'show one thing in detail', load: () => import('./commands/show.ts') },
  { name: 'tag', description: 'create, list, show and delete tags', load: () => import('./commands/tag.ts') },
];

/** The command tree with the module of `word` loaded; all of them when `word` is `*`. */
export async function createProgram(word: string | undefined): Promise<Command> {
  const program = createRoot();
  for (const module of commandModules) {
    const called = word === '*' || word === module.name || (module.aliases ?? []).includes(word ?? '');
    if (called) (await module.load()).register(program);
    else program.command(module.name, { hidden: module.hidden === true }).description(module.description);
  }
  return program;
}

function createRoot(): Command {
  const program = new Command('svcctl');
  program
    .description('svcctl works with data under version control in svc.')
    .option('--base-uri <uri>', 'base of URIs that do not start with svc:// (SVCCTL_BASE_URI)')
    .option('-c, --config <file>', 'configuration file (default $HOME/.svcctl.yaml)')
    .option('--json', 'print the API objects as JSON')
    .option('--log-format <format>', 'text or json')
    .option('--log-level <level>', 'trace, debug, info, warn, error or none', 'none')
    .option('--log-output <outputs>', 'where logs go: - stdout, = stderr, or a file', collectList)
    .option('--no-color', 'plain output without colours and boxes (NO_COLOR)')
    .option('--verbose', 'say more')
    .option('-v, --version', 'show the version of the tool and of the server')
    .addHelpText('after', '\nRun "svcctl <command> --help" for the flags and examples of a command.')
    .showSuggestionAfterError(true)
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'Error: ')) })
    .action(async (options: GlobalOptions & { version?: boolean }) => {
      if (options.version === true) await printVersion(new CommandContext(options));
      else program.outputHelp();
    });
  return program;
}

async function printVersion(context: CommandContext): Promise<void> {
  const { out } = context;
  out.line(`svcctl version: ${version}`);
  try {
    const { version_config: server } = await context.client.get('/config');
    if (server?.version !== undefined) out.line(`svc version: ${server.version}`);
    if (server?.upgrade_recommended === true) {
      out.line(
        out.paint(`An upgrade to ${server.latest_version ?? 'a newer version'} is recommended.`, 'yellow'),
      );
      if (server.upgrade_url !== undefined) out.line(out.paint(server.upgrade_url, 'blue'));
    }
  } catch (error) {
    if (context.options.verbose === true)
      out.errorLine(error instanceof Error ? error.message : String(error));
  }
}
