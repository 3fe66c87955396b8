import { Answer } from '../answer/answer.ts';
import type { HandlersOf } from '../call.ts';
import type { ApiOptions } from '../options.ts';
import { bodyError } from '../request/request-error.ts';
import { storageView, versionView } from '../views/installation.ts';

export function internalHandlers({
  engine,
  auth,
  installation,
  observer,
}: ApiOptions): HandlersOf<'internal'> {
  return {
    async setupCommPrefs({ body }) {
      await auth.setup.setCommPrefs(body);
    },

    async getSetupState() {
      const state = await auth.setup.state();
      const { login } = installation();
      return {
        state: state.initialized ? 'initialized' : 'not_initialized',
        comm_prefs_missing: state.commPrefsMissing,
        login_config: {
          RBAC: auth.mode,
          login_url: login.loginUrl,
          login_url_method: login.loginUrlMethod,
          login_failed_message: login.loginFailedMessage,
          login_cookie_names: [...login.loginCookieNames],
          logout_url: login.logoutUrl,
          username_ui_placeholder: login.usernamePlaceholder,
          password_ui_placeholder: login.passwordPlaceholder,
          fallback_login_url: login.fallbackLoginUrl,
          fallback_login_label: login.fallbackLoginLabel,
        },
      };
    },

    async setup({ body, client }) {
      const { username, key, ...commPrefs } = body;
      const created = await auth.setup.run(
        {
          username,
          key:
            key === undefined
              ? undefined
              : { accessKeyId: key.access_key_id, secretAccessKey: key.secret_access_key },
          commPrefs,
        },
        client,
      );
      return {
        access_key_id: created.accessKeyId,
        secret_access_key: created.secretAccessKey,
        creation_date: created.issuedAt,
      };
    },

    getAuthCapabilities() {
      return {
        invite_user: auth.inviteUser !== undefined,
        forgot_password: auth.passwordMails !== undefined,
      };
    },

    getLakeFSVersion() {
      return versionView(installation());
    },

    getStorageConfig() {
      const { storage } = installation();
      return storage === undefined ? Answer.json(200, null) : storageView(storage);
    },

    postStatsEvents({ body }) {
      body.events.forEach(({ class: group, name, count }, index) => {
        if (group === '') throw bodyError(`field "events[${index}].class": must not be empty`);
        if (name === '') throw bodyError(`field "events[${index}].name": must not be empty`);
        if (count < 0) throw bodyError(`field "events[${index}].count": must not be negative`);
      });
      observer?.counted?.(body.events);
    },

    async getUsageReportSummary({ request }) {
      await engine.usage.flush();
      const id = await auth.installation.id();
      if (id === '') return Answer.json(404, { message: 'installation not found' });
      const reports = await engine.usage.reports();
      if (request.headers.accept?.includes('text/plain') === true) {
        const lines = reports.map(
          ({ year, month, count }) =>
            `${year}-${String(month).padStart(2, '0')}: ${String(count).padStart(12)}`,
        );
        const text = [`Usage for installation ID: ${id}`, ...lines, ''].join('\n');
        return new Answer(200, { 'content-type': 'text/plain; charset=utf-8' }, text);
      }
      return { installation_id: id, reports };
    },
  };
}
