/** Why a login is asked for: the session is over, or will be soon. */
export type LoginReason = 'ended' | 'ending';

/** Shows the login dialog over the page. */
export type LoginDialog = (reason: LoginReason, done: (loggedIn: boolean) => void) => void;

let dialog: LoginDialog | undefined;
let asking: Promise<boolean> | undefined;

/** The mounted page registers its dialog; requests made earlier simply fail. */
export function offerLoginDialog(show: LoginDialog): () => void {
  dialog = show;
  return () => {
    if (dialog === show) dialog = undefined;
  };
}

/** Asks once, however many requests are waiting. */
export function askLogin(reason: LoginReason): Promise<boolean> {
  const show = dialog;
  if (show === undefined) return Promise.resolve(false);
  asking ??= new Promise<boolean>((resolve) => {
    show(reason, (loggedIn) => {
      asking = undefined;
      resolve(loggedIn);
    });
  });
  return asking;
}
