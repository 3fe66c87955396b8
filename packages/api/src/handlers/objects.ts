import { arn, one } from '@svc/auth';
import { refusalOf } from '../answer/error-table.ts';
import { Answer, jsonHeaders } from '../answer/answer.ts';
import type { HandlersOf } from '../call.ts';
import type { ApiOptions } from '../options.ts';
import { RequestError } from '../request/request-error.ts';
import { objectListJson } from '../views/object-list-json.ts';
import { objectView } from '../views/object.ts';
import { pageRequest } from './shared/page-request.ts';
import { archiveAnswer } from './shared/archive.ts';
import { downloadAnswer, headAnswer } from './shared/download.ts';
import { uploadHandler } from './shared/upload.ts';

const maxDeletions = 1000;

export function objectHandlers({ engine, auth }: ApiOptions): HandlersOf<'objects'> {
  const { objects } = engine;
  return {
    getObject: ({ params, query, headers }) =>
      downloadAnswer(objects, { ...params, path: query.path }, { ...headers, presign: query.presign }),

    headObject: ({ params, query, headers }) =>
      headAnswer(objects, { ...params, path: query.path }, headers.range),

    downloadArchive: (call) => archiveAnswer({ objects, auth }, call),

    uploadObject: uploadHandler(objects),

    uploadObjectPreflight() {
      return undefined;
    },

    async deleteObject({ params, query }) {
      await objects.delete({
        ...params,
        path: query.path,
        force: query.force,
        noTombstone: query.no_tombstone,
      });
    },

    async deleteObjects({ params, query, body, identity, client }) {
      if (body.paths.length > maxDeletions) {
        throw new RequestError(400, `request size exceeded, max paths is set to ${maxDeletions}`);
      }
      const permissions = await auth.permissionsOf(identity, client);
      const allowed: string[] = [];
      const errors: { path: string; status_code: number; message: string }[] = [];
      for (const path of body.paths) {
        if (permissions.check(one('fs:DeleteObject', arn.object(params.repository, path))).allowed) {
          allowed.push(path);
        } else errors.push({ path, status_code: 401, message: 'Unauthorized' });
      }
      const failures = await objects.deleteMany({
        ...params,
        paths: allowed,
        force: query.force,
        noTombstone: query.no_tombstone,
      });
      for (const { path, error } of failures) {
        const { status, message } = refusalOf(error);
        errors.push({ path, status_code: status, message });
      }
      return { errors };
    },

    async copyObject({ params, query, body }) {
      if (body.shallow === true) throw new RequestError(501, 'Not Implemented');
      const copied = await objects.copy({
        source: {
          repository: params.repository,
          ref: body.src_ref === undefined || body.src_ref === '' ? params.branch : body.src_ref,
          path: body.src_path,
        },
        destination: { ...params, path: query.dest_path },
        force: body.force,
      });
      return objectView(copied);
    },

    async statObject({ params, query }) {
      const { repository, ref } = params;
      const entry = await objects.stat({ repository, ref, path: query.path, presign: query.presign });
      return objectView(entry, query.user_metadata === false ? { metadata: 'empty' } : {});
    },

    async updateObjectUserMetadata({ params, query, body }) {
      await objects.updateMetadata({ ...params, path: query.path, metadata: body.set });
    },

    async getUnderlyingProperties({ params, query }) {
      const { storageClass } = await objects.underlyingProperties({ ...params, path: query.path });
      return { storage_class: storageClass ?? null };
    },

    async listObjects({ params, query, identity, client }) {
      const page = await objects.list({
        ...params,
        ...pageRequest(query),
        delimiter: query.delimiter,
        presign: query.presign,
      });
      let mayRead: ((path: string) => boolean) | undefined;
      if (query.presign === true) {
        const permissions = await auth.permissionsOf(identity, client);
        mayRead = (path) =>
          permissions.check(one('fs:ReadObject', arn.object(params.repository, path))).allowed;
      }
      const { body, release } = objectListJson(page, query.user_metadata !== false, mayRead);
      page.release();
      return new Answer(200, jsonHeaders, body, release);
    },
  };
}
