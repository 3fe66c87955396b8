export interface Completion {
  /** What is replaced. */
  readonly from: number;
  readonly to: number;
  readonly options: readonly string[];
}

const maxOptions = 8;

/** What can stand where the cursor is in the JSON of a policy: actions and resources by the first letters typed. */
export function policyCompletion(
  text: string,
  position: number,
  choices: { readonly action: readonly string[]; readonly resource: readonly string[] },
): Completion | undefined {
  const line = text.lastIndexOf('\n', position - 1) + 1;
  const quote = openQuote(text.slice(line, position));
  if (quote === undefined) return undefined;
  const from = line + quote + 1;
  const [, name] = /"(action|resource)"\s*:\s*(?:\[[^\]]*)?$/.exec(text.slice(0, from - 1)) ?? [];
  if (name !== 'action' && name !== 'resource') return undefined;
  const typed = text.slice(from, position).toLowerCase();
  const rest = /^[^"\n]*/.exec(text.slice(position))?.[0] ?? '';
  const whole = text.slice(from, position) + rest;
  const beginning = choices[name].filter((choice) => choice.toLowerCase().startsWith(typed));
  const holding = choices[name].filter(
    (choice) => !beginning.includes(choice) && choice.toLowerCase().includes(typed),
  );
  const options = [...beginning, ...holding].filter((choice) => choice !== whole).slice(0, maxOptions);
  return options.length === 0 ? undefined : { from, to: position + rest.length, options };
}

/** Where the text begins that is still open at the end of a line. */
function openQuote(line: string): number | undefined {
  let open: number | undefined;
  for (let at = 0; at < line.length; at += 1) {
    if (line[at] === '\\') at += 1;
    else if (line[at] === '"') open = open === undefined ? at : undefined;
  }
  return open;
}
