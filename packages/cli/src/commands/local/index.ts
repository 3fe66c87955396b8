import type { Command } from 'commander';
import { registerCheckout } from './checkout.ts';
import { registerClone } from './clone.ts';
import { registerCommit } from './commit.ts';
import { registerInit } from './init.ts';
import { registerList } from './list.ts';
import { registerPull } from './pull.ts';
import { registerStatus } from './status.ts';

export function register(program: Command): void {
  const local = program.command('local').description('keep a folder in step with a path in a repository');
  registerCheckout(local);
  registerClone(local);
  registerCommit(local);
  registerInit(local);
  registerList(local);
  registerPull(local);
  registerStatus(local);
}
