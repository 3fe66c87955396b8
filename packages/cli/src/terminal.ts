const booleans: Record<string, boolean> = {
  '1': true,
  t: true,
  T: true,
  true: true,
  True: true,
  TRUE: true,
  '0': false,
  f: false,
  F: false,
  false: false,
  False: false,
  FALSE: false,
};

export function parseBoolean(text: string): boolean | undefined {
  return booleans[text];
}

/** Boxes, colours and hints: decided once, by `--no-color`, `NO_COLOR`, `SVCCTL_INTERACTIVE` or standard output. */
export function isTerminal(colour: boolean, environment: NodeJS.ProcessEnv): boolean {
  const noColor = environment['NO_COLOR'];
  if (!colour || (noColor !== undefined && noColor !== '' && noColor !== '0')) return false;
  const forced = environment['SVCCTL_INTERACTIVE'];
  if (forced !== undefined && forced !== '') return parseBoolean(forced) ?? true;
  return process.stdout.isTTY;
}
