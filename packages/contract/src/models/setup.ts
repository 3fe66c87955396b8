import { Type } from 'typebox';
import { flag, text, textOf } from './values.ts';

export const LoginConfig = Type.Object(
  {
    RBAC: Type.Optional(textOf(['none', 'simplified', 'internal', 'external'])),
    username_ui_placeholder: Type.Optional(text),
    password_ui_placeholder: Type.Optional(text),
    login_url: text,
    login_url_method: Type.Optional(textOf(['none', 'redirect', 'select'])),
    login_failed_message: Type.Optional(text),
    fallback_login_url: Type.Optional(text),
    fallback_login_label: Type.Optional(text),
    login_cookie_names: Type.Array(text),
    logout_url: text,
  },
  { title: 'LoginConfig' },
);

export const SetupState = Type.Object(
  {
    state: Type.Optional(textOf(['initialized', 'not_initialized'])),
    comm_prefs_missing: Type.Optional(flag),
    login_config: Type.Optional(LoginConfig),
  },
  { title: 'SetupState' },
);

export const AccessKeyCredentials = Type.Object(
  {
    access_key_id: Type.String({ minLength: 1 }),
    secret_access_key: Type.String({ minLength: 1 }),
  },
  { title: 'AccessKeyCredentials' },
);

export const Setup = Type.Object(
  {
    username: text,
    key: Type.Optional(AccessKeyCredentials),
    firstName: Type.Optional(text),
    lastName: Type.Optional(text),
    email: Type.Optional(text),
    companyName: Type.Optional(text),
    featureUpdates: Type.Optional(flag),
    securityUpdates: Type.Optional(flag),
  },
  { title: 'Setup' },
);

export const CommPrefsInput = Type.Object(
  {
    firstName: Type.Optional(text),
    lastName: Type.Optional(text),
    email: Type.Optional(text),
    companyName: Type.Optional(text),
    featureUpdates: flag,
    securityUpdates: flag,
  },
  { title: 'CommPrefsInput' },
);
