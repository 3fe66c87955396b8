import { createRoute, redirect } from '@tanstack/react-router';
import { lazyPage } from '../kit/missing-part.tsx';
import { app, strings } from './base.ts';

const admin = createRoute({
  getParentRoute: () => app,
  path: '/auth',
  component: lazyPage(() => import('../features/admin/admin-layout.tsx'), 'AdminLayout'),
});

const adminHome = createRoute({
  getParentRoute: () => admin,
  path: '/',
  beforeLoad() {
    throw redirect({ to: '/auth/credentials' });
  },
});

const myCredentials = createRoute({
  getParentRoute: () => admin,
  path: '/credentials',
  validateSearch: strings('after'),
  component: lazyPage(() => import('../features/admin/credentials-page.tsx'), 'MyCredentialsPage'),
});

const mySessions = createRoute({
  getParentRoute: () => admin,
  path: '/sessions',
  component: lazyPage(() => import('../features/admin/sessions-page.tsx'), 'MySessionsPage'),
});

const users = createRoute({
  getParentRoute: () => admin,
  path: '/users',
  validateSearch: strings('prefix', 'after'),
  component: lazyPage(() => import('../features/admin/users-page.tsx'), 'UsersPage'),
});

const user = createRoute({
  getParentRoute: () => admin,
  path: '/users/$id',
  beforeLoad({ params, location }) {
    if (location.pathname.split('/').length <= 4)
      throw redirect({ to: '/auth/users/$id/$tab', params: { ...params, tab: 'groups' } });
  },
});

const userTab = createRoute({
  getParentRoute: () => admin,
  path: '/users/$id/$tab',
  component: lazyPage(() => import('../features/admin/user-page.tsx'), 'UserPage'),
});

const effectivePolicies = createRoute({
  getParentRoute: () => admin,
  path: '/users/$id/policies/effective',
  component: lazyPage(() => import('../features/admin/user-page.tsx'), 'EffectivePoliciesPage'),
});

const groups = createRoute({
  getParentRoute: () => admin,
  path: '/groups',
  validateSearch: strings('prefix', 'after'),
  component: lazyPage(() => import('../features/admin/groups-page.tsx'), 'GroupsPage'),
});

const group = createRoute({
  getParentRoute: () => admin,
  path: '/groups/$id',
  beforeLoad({ params, location }) {
    if (location.pathname.split('/').length <= 4)
      throw redirect({ to: '/auth/groups/$id/$tab', params: { ...params, tab: 'members' } });
  },
});

const groupTab = createRoute({
  getParentRoute: () => admin,
  path: '/groups/$id/$tab',
  component: lazyPage(() => import('../features/admin/group-page.tsx'), 'GroupPage'),
});

const policies = createRoute({
  getParentRoute: () => admin,
  path: '/policies',
  validateSearch: strings('prefix', 'after'),
  component: lazyPage(() => import('../features/admin/policies-page.tsx'), 'PoliciesPage'),
});

const policy = createRoute({
  getParentRoute: () => admin,
  path: '/policies/$id',
  component: lazyPage(() => import('../features/admin/policy-page.tsx'), 'PolicyPage'),
});

const buckets = createRoute({
  getParentRoute: () => admin,
  path: '/buckets',
  validateSearch: strings('prefix'),
  component: lazyPage(() => import('../features/buckets/buckets-page.tsx'), 'BucketsPage'),
});

const bucket = createRoute({
  getParentRoute: () => admin,
  path: '/buckets/$name',
  component: lazyPage(() => import('../features/buckets/bucket-page.tsx'), 'BucketPage'),
});

const webhooks = createRoute({
  getParentRoute: () => admin,
  path: '/webhooks',
  component: lazyPage(() => import('../features/webhooks/webhooks-page.tsx'), 'WebhooksPage'),
});

const webhook = createRoute({
  getParentRoute: () => admin,
  path: '/webhooks/$id',
  component: lazyPage(() => import('../features/webhooks/webhook-page.tsx'), 'WebhookPage'),
});

const audit = createRoute({
  getParentRoute: () => admin,
  path: '/audit',
  validateSearch: strings('user', 'action', 'resource', 'result', 'source', 'hours'),
  component: lazyPage(() => import('../features/admin/audit-page.tsx'), 'AuditPage'),
});

/** Users, groups, policies and keys, buckets, webhooks and the audit log. */
export const administration = admin.addChildren([
  adminHome,
  myCredentials,
  mySessions,
  users,
  user,
  userTab,
  effectivePolicies,
  groups,
  group,
  groupTab,
  policies,
  policy,
  buckets,
  bucket,
  webhooks,
  webhook,
  audit,
]);
