/** What one check found. Only a failure keeps a server from working. */
export interface Finding {
  readonly check: string;
  readonly state: 'ok' | 'warning' | 'failure';
  readonly text: string;
  /** What to do about it. */
  readonly fix?: string | undefined;
}

export const ok = (check: string, text: string): Finding => ({ check, state: 'ok', text });

export const warning = (check: string, text: string, fix: string): Finding => ({
  check,
  state: 'warning',
  text,
  fix,
});

export const failure = (check: string, text: string, fix: string): Finding => ({
  check,
  state: 'failure',
  text,
  fix,
});
