import { and, arn, every, soft, softEvery } from '@svc/auth';
import type { Auth, Requirement } from '@svc/auth';
import type { AddressRights } from '@svc/engine';
import type { Call } from '../../call.ts';

/** What the caller's policies allow them to do with addresses they name. */
export function addressRights(auth: Auth, call: Pick<Call, 'identity' | 'client' | 'ensure'>): AddressRights {
  const allows = async (requirement: Requirement): Promise<boolean> =>
    (await auth.authorize(call.identity, requirement, call.client)).allowed;
  return {
    mayReadRepository: (repository) => allows(every('fs:ReadObject', arn.object(repository, ''))),
    checkImport: (address) => call.ensure(soft('fs:ImportFromStorage', arn.namespace(address))),
    checkImportBelow: (start) => call.ensure(softEvery('fs:ImportFromStorage', arn.namespace(start))),
    mayUseEveryAddress: () =>
      allows(
        and(every('fs:ReadObject', arn.repository('')), softEvery('fs:ImportFromStorage', arn.namespace(''))),
      ),
  };
}
