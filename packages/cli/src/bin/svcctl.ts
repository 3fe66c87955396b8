import { main } from '../main.ts';

// A reader that has seen enough (`svcctl log … | head`) is not a failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : 1);
});

process.exitCode = await main(process.argv.slice(2));
