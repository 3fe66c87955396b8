import { childOf, childText, requireXml, type XmlElement } from '../../remote/xml.ts';
import type { BlobPlace } from './addresses.ts';
import { contentEtag } from './blob-calls.ts';
import type { AzureClient } from './client.ts';

export interface ListedBlob {
  readonly key: string;
  readonly etag: string;
  readonly size: number;
  readonly lastModified: Date;
  readonly metadata: (name: string) => string | undefined;
}

/** The blobs below a prefix in the service's order, page by page (5000). Directories are no objects. */
export async function* listBlobs(
  client: AzureClient,
  { account, container, key: prefix }: BlobPlace,
  signal?: AbortSignal,
): AsyncGenerator<ListedBlob[]> {
  let marker = '';
  do {
    const query: [string, string][] = [
      ['restype', 'container'],
      ['comp', 'list'],
      ['include', 'metadata'],
    ];
    if (prefix !== '') query.push(['prefix', prefix]);
    if (marker !== '') query.push(['marker', marker]);
    const response = await client.send({ method: 'GET', place: { account, container }, query, signal });
    const result = requireXml(await response.body.text(), 'EnumerationResults');
    const page: ListedBlob[] = [];
    for (const element of childOf(result, 'Blobs')?.children ?? []) {
      const blob = element.name === 'Blob' ? readBlob(element) : undefined;
      if (blob !== undefined) page.push(blob);
    }
    marker = childText(result, 'NextMarker') ?? '';
    if (page.length > 0) yield page;
  } while (marker !== '');
}

function readBlob(element: XmlElement): ListedBlob | undefined {
  const properties = childOf(element, 'Properties');
  const metadata = childOf(element, 'Metadata');
  const size = Number(childText(properties, 'Content-Length') ?? 0);
  const isFolder = childText(metadata, 'hdi_isfolder') === 'true' && size === 0;
  if (isFolder || childText(properties, 'ResourceType') === 'directory') return undefined;
  const name = childOf(element, 'Name');
  const text = name?.text ?? '';
  return {
    // Names that XML cannot hold come encoded.
    key: name?.attributes?.['Encoded'] === 'true' ? decodeURIComponent(text) : text,
    etag: contentEtag(childText(properties, 'Content-MD5'), childText(properties, 'Etag')),
    size,
    lastModified: new Date(childText(properties, 'Last-Modified') ?? 0),
    metadata: (wanted) => metadata?.children.find(({ name: each }) => each.toLowerCase() === wanted)?.text,
  };
}
