import { createRootRoute, createRoute, redirect } from '@tanstack/react-router';
import { AppLayout, FailedPage, NotFoundPage, RootLayout } from '../features/shell/layout.tsx';
import { queryClient, setupQuery, userQuery } from '../lib/queries.ts';

/** Every value in an address is text; unknown names are left out. */
export function strings<Key extends string>(...keys: readonly Key[]) {
  return (search: Record<string, unknown>): { [name in Key]?: string | undefined } => {
    const found: { [name in Key]?: string | undefined } = {};
    for (const key of keys) {
      const value = search[key];
      if (typeof value === 'string' && value !== '') found[key] = value;
    }
    return found;
  };
}

export const root = createRootRoute({
  component: RootLayout,
  notFoundComponent: NotFoundPage,
  errorComponent: FailedPage,
});

/** Everything below needs somebody logged in. */
export const app = createRoute({
  getParentRoute: () => root,
  id: 'app',
  component: AppLayout,
  async beforeLoad({ location }) {
    if ((await queryClient.ensureQueryData(userQuery)) !== null) return;
    const { state } = await queryClient.ensureQueryData(setupQuery);
    if (state !== 'initialized') throw redirect({ to: '/setup', search: { next: location.href } });
    throw redirect({ to: '/auth/login', search: { redirected: 'true', next: location.href } });
  },
});
