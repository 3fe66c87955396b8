import type { CommandContext } from '../../context.ts';

/** The user a command is about: the one given, else the caller. */
export async function userOrSelf(context: CommandContext, id: string | undefined): Promise<string> {
  if (id !== undefined && id !== '') return id;
  const { user } = await context.client.get('/user');
  return user.id;
}
