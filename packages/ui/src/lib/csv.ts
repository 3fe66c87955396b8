import Papa from 'papaparse';

export interface CsvTable {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** Parses text; `complete` is false for the start of a longer text. The delimiter is guessed when none is given. */
export function parseCsv(text: string, complete: boolean, delimiter = ''): CsvTable {
  // One kind of line end: programs mix them, the parser does not.
  const lines = text.replaceAll(/\r\n?/g, '\n');
  const { data, errors } = Papa.parse<string[]>(
    complete ? lines : lines.slice(0, lines.lastIndexOf('\n') + 1),
    { delimiter, delimitersToGuess: [',', '\t', ';', '|'], newline: '\n', skipEmptyLines: true },
  );
  // The text was cut inside quotes.
  if (!complete && errors.some(({ code }) => code === 'MissingQuotes')) data.pop();
  const [columns = [], ...rows] = data;
  return { columns, rows };
}
