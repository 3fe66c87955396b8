import { Command } from 'commander';
import type { CommandContext, GlobalOptions } from './context.ts';
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
    name: 'abuse',
    description: 'put load on a server and measure it',
    hidden: true,
    load: () => import('./commands/abuse.ts'),
  },
  {
    name: 'actions',
    description: 'runs of hooks, and checking action files',
    load: () => import('./commands/actions.ts'),
  },
  {
    name: 'annotate',
    description: 'show the last commit that changed each entry under a path',
    aliases: ['blame'],
    load: () => import('./commands/annotate.ts'),
  },
  {
    name: 'audit',
    description: 'show who did what when, newest first',
    load: () => import('./commands/audit.ts'),
  },
  {
    name: 'auth',
    description: 'users, groups, policies and credentials',
    load: () => import('./commands/auth/index.ts'),
  },
  {
    name: 'bisect',
    description: 'find the commit that broke something by halving the history',
    hidden: true,
    load: () => import('./commands/bisect.ts'),
  },
  {
    name: 'branch',
    description: 'create, list, reset, revert and roll back branches',
    load: () => import('./commands/branch.ts'),
  },
  {
    name: 'branch-protect',
    description: 'protect branches by name pattern',
    load: () => import('./commands/branch-protect.ts'),
  },
  {
    name: 'cat-hook-output',
    description: 'write what a hook of a run has written',
    hidden: true,
    load: () => import('./commands/cat-hook-output.ts'),
  },
  {
    name: 'cat-sst',
    description: 'show the records of a range or metarange file',
    hidden: true,
    load: () => import('./commands/cat-sst.ts'),
  },
  {
    name: 'cherry-pick',
    description: "apply another commit's changes to a branch",
    load: () => import('./commands/cherry-pick.ts'),
  },
  {
    name: 'commit',
    description: "commit a branch's changes",
    load: () => import('./commands/commit.ts'),
  },
  {
    name: 'completion',
    description: 'print the completion script of a shell',
    load: () => import('./commands/completion.ts'),
  },
  {
    name: 'config',
    description: 'ask for credentials and the endpoint URL, and write the configuration file',
    load: () => import('./commands/config.ts'),
  },
  {
    name: 'conflicts',
    description: 'list what stops a merge: paths that both sides changed',
    load: () => import('./commands/conflicts.ts'),
  },
  {
    name: 'diff',
    description: 'show uncommitted changes of a branch, or the changes between two refs',
    load: () => import('./commands/diff.ts'),
  },
  {
    name: 'docs',
    description: 'print the reference of all commands as Markdown',
    hidden: true,
    load: () => import('./commands/docs.ts'),
  },
  {
    name: 'doctor',
    description: 'find out whether the configuration works, and why not',
    load: () => import('./commands/doctor.ts'),
  },
  {
    name: 'events',
    description: 'show what happened, one CloudEvent a line, and follow what happens',
    load: () => import('./commands/events.ts'),
  },
  {
    name: 'find-merge-base',
    description: 'find the commit two refs have in common',
    hidden: true,
    load: () => import('./commands/find-merge-base.ts'),
  },
  {
    name: 'fs',
    description: 'list, read, write, copy and delete objects',
    load: () => import('./commands/fs/index.ts'),
  },
  {
    name: 'gc',
    description: 'rules and runs of garbage collection',
    load: () => import('./commands/gc.ts'),
  },
  {
    name: 'identity',
    description: 'show who the configured credentials belong to',
    load: () => import('./commands/identity.ts'),
  },
  {
    name: 'import',
    description: 'link objects that are in an object store already into a branch, without copying them',
    load: () => import('./commands/import.ts'),
  },
  {
    name: 'local',
    description: 'keep a folder in step with a path in a repository',
    load: () => import('./commands/local/index.ts'),
  },
  {
    name: 'log',
    description: 'show the commits that led to a ref, newest first',
    load: () => import('./commands/log.ts'),
  },
  {
    name: 'login',
    description: 'log in through a browser, for people without access keys',
    load: () => import('./commands/login.ts'),
  },
  {
    name: 'logout',
    description: 'end the login that "svcctl login" began',
    load: () => import('./commands/logout.ts'),
  },
  {
    name: 'merge',
    description: 'merge a ref into a branch, all or nothing',
    load: () => import('./commands/merge.ts'),
  },
  {
    name: 'metastore',
    description: 'copy tables of Hive and Glue metastores to branches, and compare them',
    load: () => import('./commands/metastore/index.ts'),
  },
  {
    name: 'plugin',
    description: 'work with plugins: programs on PATH named svcctl-<name> that become commands',
    load: () => import('./commands/plugin.ts'),
  },
  {
    name: 'alias',
    description: 'bucket names that stand for a ref',
    load: () => import('./commands/alias.ts'),
  },
  {
    name: 'reflog',
    description: 'show what moved branches and tags, newest first, also deleted ones',
    load: () => import('./commands/reflog.ts'),
  },
  {
    name: 'refs-dump',
    description: "write a repository's branches, tags and commits to its storage and print where",
    hidden: true,
    load: () => import('./commands/refs-dump.ts'),
  },
  {
    name: 'refs-restore',
    description:
      'restore branches, tags and commits into a bare repository; after a failure make it anew and retry',
    hidden: true,
    load: () => import('./commands/refs-restore.ts'),
  },
  {
    name: 'repo',
    description: 'create, list and delete repositories',
    load: () => import('./commands/repo.ts'),
  },
  {
    name: 'show',
    description: 'show one thing in detail',
    load: () => import('./commands/show.ts'),
  },
  {
    name: 'subscription',
    description: 'have events sent to web addresses, and see what became of them',
    load: () => import('./commands/subscription.ts'),
  },
  {
    name: 'tag',
    description: 'create, list, show and delete tags',
    load: () => import('./commands/tag.ts'),
  },
  {
    name: 'undelete',
    description: 'bring deleted branches, tags and repositories back',
    load: () => import('./commands/undelete.ts'),
  },
  {
    name: 'usage',
    description: 'usage reports of the installation',
    hidden: true,
    load: () => import('./commands/usage.ts'),
  },
  {
    name: '__complete',
    description: 'offers for the last of the given words',
    hidden: true,
    load: () => import('./commands/complete.ts'),
  },
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
    .helpCommand('help [command]', 'show the help of a command')
    .helpOption('-h, --help', 'show help')
    .allowExcessArguments()
    .action(async (options: GlobalOptions & { version?: boolean }) => {
      if (program.args.length > 0) (program as Command & { unknownCommand: () => void }).unknownCommand();
      if (options.version !== true) {
        program.outputHelp();
        return;
      }
      const context = await import('./context.ts');
      await printVersion(new context.CommandContext(options));
    });
  return program;
}

async function printVersion(context: CommandContext): Promise<void> {
  const { out } = context;
  out.line(`svcctl version: ${version}`);
  try {
    // Nobody who asks for the version waits for a server that is down.
    const { version_config: server } = await context.client.get('/config', { repeat: false });
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
