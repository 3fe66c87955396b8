import type { Command } from 'commander';
import { registerAwsIam } from './aws-iam.ts';
import { registerCredentials } from './credentials.ts';
import { registerGroups } from './groups.ts';
import { registerPolicies } from './policies.ts';
import { registerSessions } from './sessions.ts';
import { registerSimulate } from './simulate.ts';
import { registerUsers } from './users.ts';

export function register(program: Command): void {
  const auth = program.command('auth').description('users, groups, policies and credentials');
  const users = registerUsers(auth);
  registerCredentials(users);
  registerSessions(users);
  registerAwsIam(users);
  registerGroups(auth);
  registerPolicies(auth);
  registerSimulate(auth);
}
