/** Every code the gateway answers with, its status and S3's wording (ours for the product's own codes). */
export const errorCodes = {
  AccessForbidden: {
    status: 403,
    message:
      'CORSResponse: This CORS request is not allowed. This is usually because the evalution of Origin, request ' +
      "method / Access-Control-Request-Method or Access-Control-Request-Headers are not whitelisted by the resource's " +
      'CORS spec.',
  },
  AccessDenied: { status: 403, message: 'Access Denied.' },
  AuthorizationHeaderMalformed: { status: 400, message: 'The authorization header is malformed.' },
  AuthorizationQueryParametersError: {
    status: 400,
    message: 'The authorization query parameters are malformed.',
  },
  BadDigest: { status: 400, message: 'The checksum you specified did not match what we received.' },
  BadRequest: { status: 400, message: 'An error occurred when parsing the HTTP request.' },
  BucketAlreadyExists: {
    status: 409,
    message: 'The requested bucket name is not available: a repository of that name exists.',
  },
  ConditionalRequestConflict: {
    status: 409,
    message: 'The object changed while the conditional request was running. Please retry.',
  },
  EntityTooSmall: { status: 400, message: 'Your proposed upload is smaller than the minimum allowed size' },
  ErrNoSuchBucketPossibleAPIEndpoint: {
    status: 404,
    message:
      'The specified bucket does not exist. The endpoint ends in /api/v1: give S3 clients the server address without it.',
  },
  ErrReadOnlyRepository: { status: 403, message: 'The repository is read-only.' },
  ErrWriteToProtectedBranch: { status: 403, message: 'Cannot write to a protected branch.' },
  ERRLakeFSNotSupported: { status: 405, message: 'This operation is not supported by the gateway.' },
  ExpiredToken: { status: 400, message: 'The provided token has expired or was revoked.' },
  IncompleteBody: { status: 400, message: 'The request body terminated unexpectedly' },
  InternalError: { status: 500, message: 'We encountered an internal error, please try again.' },
  InvalidAccessKeyId: {
    status: 403,
    message: 'The AWS Access Key Id you provided does not exist in our records.',
  },
  InvalidArgument: { status: 400, message: 'Invalid Argument' },
  InvalidChunkSizeError: {
    status: 400,
    message: 'Only the last chunk is allowed to have a size less than 8192 bytes',
  },
  InvalidDigest: { status: 400, message: 'The Content-Md5 you specified is not valid.' },
  InvalidPart: {
    status: 400,
    message:
      "One or more of the specified parts could not be found.  The part may not have been uploaded, or the specified entity tag may not match the part's entity tag.",
  },
  InvalidPartNumber: { status: 416, message: 'The requested partnumber is not satisfiable.' },
  InvalidPartOrder: {
    status: 400,
    message: 'The list of parts was not in ascending order. Parts must be ordered by part number.',
  },
  InvalidRange: { status: 416, message: 'The requested range is not satisfiable' },
  InvalidRequest: { status: 400, message: 'Invalid Request' },
  InvalidStorageClass: { status: 400, message: 'The storage class you specified is not valid.' },
  InvalidTag: { status: 400, message: 'The tag provided was not a valid tag.' },
  InvalidURI: { status: 400, message: "Couldn't parse the specified URI: the key is not UTF-8." },
  KeyTooLongError: { status: 400, message: 'Your key is too long.' },
  MalformedDate: {
    status: 400,
    message: 'Invalid date format header, expected to be in ISO8601, RFC1123 or RFC1123Z time format.',
  },
  MalformedTrailerError: {
    status: 400,
    message:
      'The request contained trailing data that was not well-formed or did not conform to our published schema.',
  },
  MalformedXML: {
    status: 400,
    message: 'The XML you provided was not well-formed or did not validate against our published schema.',
  },
  MetadataTooLarge: {
    status: 400,
    message: 'Your metadata headers exceed the maximum allowed metadata size',
  },
  MethodNotAllowed: {
    status: 405,
    message: 'The specified method is not allowed against this resource.',
  },
  MissingContentLength: { status: 411, message: 'You must provide the Content-Length HTTP header.' },
  MissingFields: { status: 400, message: 'Missing fields in request.' },
  NoSuchBucket: { status: 404, message: 'The specified bucket does not exist.' },
  NoSuchKey: { status: 404, message: 'The specified key does not exist.' },
  NoSuchUpload: {
    status: 404,
    message:
      'The specified multipart upload does not exist. The upload ID may be invalid, or the upload may have ' +
      'been aborted or completed.',
  },
  NoSuchVersion: { status: 404, message: 'The specified version does not exist.' },
  NotImplemented: {
    status: 501,
    message: 'A header you provided implies functionality that is not implemented.',
  },
  PreconditionFailed: {
    status: 412,
    message: 'At least one of the pre-conditions you specified did not hold.',
  },
  RequestTimeTooSkewed: {
    status: 403,
    message: 'The difference between the request time and the current time is too large.',
  },
  SignatureDoesNotMatch: {
    status: 403,
    message:
      'The request signature we calculated does not match the signature you provided. Check your key and ' +
      'signing method.',
  },
  SlowDown: { status: 503, message: 'Please reduce your request rate.' },
  XAmzContentSHA256Mismatch: {
    status: 400,
    message: "The provided 'x-amz-content-sha256' header does not match what was computed.",
  },
} as const;

export type S3ErrorCode = keyof typeof errorCodes;
