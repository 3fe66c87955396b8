export interface CsvTable {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

const delimiters = [',', '\t', ';', '|'];

function sniff(text: string): string {
  const line = text.slice(0, 4096).split('\n', 1)[0] ?? '';
  let best = ',';
  let most = 0;
  for (const delimiter of delimiters) {
    const count = line.split(delimiter).length - 1;
    if (count > most) {
      most = count;
      best = delimiter;
    }
  }
  return best;
}

/** Parses text with quotes as RFC 4180 has them. `complete` is false for the start of a longer text. */
export function parseCsv(text: string, complete: boolean, delimiter = sniff(text)): CsvTable {
  const rows: string[][] = [];
  let row: string[] = [];
  let field = '';
  let quoted = false;
  for (let i = 0; i < text.length; i++) {
    const char = text.charAt(i);
    if (quoted) {
      if (char !== '"') field += char;
      else if (text.charAt(i + 1) === '"') {
        field += '"';
        i++;
      } else quoted = false;
    } else if (char === '"' && field === '') quoted = true;
    else if (char === delimiter) {
      row.push(field);
      field = '';
    } else if (char === '\n') {
      row.push(field.endsWith('\r') ? field.slice(0, -1) : field);
      rows.push(row);
      row = [];
      field = '';
    } else field += char;
  }
  // The last line of a piece may have been cut in the middle.
  if (complete && (field !== '' || row.length > 0)) rows.push([...row, field]);
  const [columns = [], ...rest] = rows;
  return { columns, rows: rest.filter((cells) => cells.length > 1 || cells[0] !== '') };
}
