/** Whoever shows the login dialog over the page. */
export type LoginDialog = (done: (loggedIn: boolean) => void) => void;

let dialog: LoginDialog | undefined;
let asking: Promise<boolean> | undefined;

/** The mounted page offers its dialog; requests made before that fail as they are. */
export function offerLoginDialog(show: LoginDialog): () => void {
  dialog = show;
  return () => {
    if (dialog === show) dialog = undefined;
  };
}

/** Asks once however many requests are waiting. */
export function askLogin(): Promise<boolean> {
  const show = dialog;
  if (show === undefined) return Promise.resolve(false);
  asking ??= new Promise<boolean>((resolve) => {
    show((loggedIn) => {
      asking = undefined;
      resolve(loggedIn);
    });
  });
  return asking;
}
