import { checkNoPercent } from '@svc/auth';

type Prepare = (body: unknown) => unknown;

/** What is done to a body before permission is asked, because the permission is about the result. */
export const prepareBody: Readonly<Record<string, Prepare | undefined>> = {
  createUser(body) {
    const user = body as { readonly id: string; readonly invite_user?: boolean };
    checkNoPercent('User', user.id);
    return user.invite_user === true ? { ...user, id: user.id.toLowerCase() } : user;
  },
};
