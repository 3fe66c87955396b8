export interface PickedFile {
  readonly file: File;
  /** The path inside what was dropped, with `/` between folders. */
  readonly name: string;
}

async function readFolder(folder: FileSystemDirectoryEntry): Promise<PickedFile[]> {
  const reader = folder.createReader();
  const files: PickedFile[] = [];
  // A reader returns batches; an empty one is the last.
  for (;;) {
    const batch = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (batch.length === 0) return files;
    for (const entry of batch) files.push(...(await readEntry(entry)));
  }
}

async function readEntry(entry: FileSystemEntry): Promise<PickedFile[]> {
  if (entry.isDirectory) return await readFolder(entry as FileSystemDirectoryEntry);
  const file = await new Promise<File>((resolve, reject) =>
    (entry as FileSystemFileEntry).file(resolve, reject),
  );
  return [{ file, name: entry.fullPath.replace(/^\//, '').replaceAll('\\', '/') }];
}

/** The files and folders of a drop. */
export async function filesOfDrop(transfer: DataTransfer): Promise<PickedFile[]> {
  // Entries must be taken before the first await: the transfer is emptied after the event.
  const entries = [...transfer.items]
    .map((item) => item.webkitGetAsEntry())
    .filter((entry) => entry !== null);
  if (entries.length === 0) return [...transfer.files].map((file) => ({ file, name: file.name }));
  const files: PickedFile[] = [];
  for (const entry of entries) files.push(...(await readEntry(entry)));
  return files;
}

export function filesOfInput(input: HTMLInputElement): PickedFile[] {
  return [...(input.files ?? [])].map((file) => ({
    file,
    name: (file.webkitRelativePath || file.name).replaceAll('\\', '/'),
  }));
}
