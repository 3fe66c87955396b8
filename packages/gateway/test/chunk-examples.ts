/** One chunk of `aws-chunked` framing. */
export function chunk(data: Buffer, signature?: string): Buffer {
  const extension = signature === undefined ? '' : `;chunk-signature=${signature}`;
  return Buffer.concat([
    Buffer.from(`${data.length.toString(16)}${extension}\r\n`),
    data,
    Buffer.from('\r\n'),
  ]);
}

export const letters = (count: number) => Buffer.alloc(count, 'a');
export const none = Buffer.alloc(0);

/** The published 66 560-byte example in two chunks. */
export const signedChunks = (signatures: readonly [string, string, string], end = '\r\n') =>
  Buffer.concat([
    chunk(letters(65536), signatures[0]),
    chunk(letters(1024), signatures[1]),
    Buffer.from(`0;chunk-signature=${signatures[2]}\r\n${end}`),
  ]);

export const plainSignatures = [
  'ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648',
  '0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497',
  'b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9',
] as const;
export const plainSeed = '4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9';
export const plainHeaders = {
  'x-amz-content-sha256': 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD',
  'x-amz-decoded-content-length': '66560',
};

export const trailerSignatures = [
  'b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2',
  '1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7',
  '2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992',
] as const;
export const trailerSeed = '106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e';
export const trailerHeaders = {
  'x-amz-content-sha256': 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER',
  'x-amz-decoded-content-length': '66560',
  'x-amz-trailer': 'x-amz-checksum-crc32c',
};
export const trailerText =
  'x-amz-checksum-crc32c:sOO8/Q==\r\n' +
  'x-amz-trailer-signature:d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435\r\n\r\n';
