import type { EngineContext } from '../context/engine-context.ts';
import type { Objects } from '../face/objects.ts';
import { listObjects } from '../listing/list-objects.ts';
import { copyObject, deleteObject, deleteObjects, setTags, updateMetadata } from './change-object.ts';
import {
  abortPresignedMultipart,
  completePresignedMultipart,
  copyMultipartPart,
  createPresignedMultipart,
  presignMultipartPart,
} from './presigned-multipart.ts';
import { findShownObject, openEntry, openObject, statObject, underlyingProperties } from './read-object.ts';
import { samplePaths } from './sample-paths.ts';
import { getPhysicalAddress, linkObject, stageObject } from './stage-object.ts';
import { checkUpload, uploadObject } from './upload-object.ts';
import { uploadScratch } from './upload-scratch.ts';

export function objects(context: EngineContext): Objects {
  return {
    upload: (options) => uploadObject(context, options),
    uploadScratch: (options) => uploadScratch(context, options),
    checkUpload: async (options) => {
      await checkUpload(context, options);
    },
    stage: (options) => stageObject(context, options),
    stat: (options) => statObject(context, options),
    find: (location) => findShownObject(context, location),
    open: (options) => openObject(context, options),
    openEntry: (repository, entry, range) => openEntry(context, repository, entry, range),
    list: (options) => listObjects(context, options),
    samplePaths: (options) => samplePaths(context, options),
    copy: (options) => copyObject(context, options),
    updateMetadata: (options) => updateMetadata(context, options),
    setTags: (options) => setTags(context, options),
    delete: (options) => deleteObject(context, options),
    deleteMany: (options) => deleteObjects(context, options),
    underlyingProperties: (options) => underlyingProperties(context, options),
    getPhysicalAddress: (options) => getPhysicalAddress(context, options),
    link: async (options) => linkObject(context, options),
    createPresignedMultipart: (options) => createPresignedMultipart(context, options),
    presignMultipartPart: (options) => presignMultipartPart(context, options),
    copyMultipartPart: (options) => copyMultipartPart(context, options),
    completePresignedMultipart: (options) => completePresignedMultipart(context, options),
    abortPresignedMultipart: (options) => abortPresignedMultipart(context, options),
  };
}
