import type { DumpProperties } from '../committed/tree.ts';

const packageName = 'io.treeverse.lakefs.graveler';

interface FieldSpec {
  readonly name: string;
  readonly type: 'STRING' | 'BOOL' | 'INT32' | 'MESSAGE';
  readonly typeName?: string;
  readonly repeated?: boolean;
}

/** The descriptor of a message as protobuf's JSON form spells it; readers of dumps decode records by it. */
function descriptor(name: string, fields: readonly (FieldSpec | undefined)[], nested?: object[]): string {
  const field = fields.flatMap((spec, index) =>
    spec === undefined
      ? []
      : [
          {
            name: spec.name,
            number: index + 1,
            label: spec.repeated === true ? 'LABEL_REPEATED' : 'LABEL_OPTIONAL',
            type: `TYPE_${spec.type}`,
            ...(spec.typeName !== undefined && { typeName: spec.typeName }),
            jsonName: spec.name.replaceAll(/_(\w)/g, (_match, letter: string) => letter.toUpperCase()),
          },
        ],
  );
  return JSON.stringify({ name, field, ...(nested !== undefined && { nestedType: nested }) });
}

const text = (name: string): FieldSpec => ({ name, type: 'STRING' });

export const tagDump: DumpProperties = {
  entity: 'tag',
  schemaName: `${packageName}.TagData`,
  schemaDefinition: descriptor('TagData', [text('id'), text('commit_id')]),
};

export const branchDump: DumpProperties = {
  entity: 'branch',
  schemaName: `${packageName}.BranchData`,
  schemaDefinition: descriptor('BranchData', [
    text('id'),
    text('commit_id'),
    text('staging_token'),
    { ...text('sealed_tokens'), repeated: true },
    { name: 'hidden', type: 'BOOL' },
  ]),
};

const metadataEntry = {
  ...(JSON.parse(descriptor('MetadataEntry', [text('key'), text('value')])) as object),
  options: { mapEntry: true },
};

export const commitDump: DumpProperties = {
  entity: 'commit',
  schemaName: `${packageName}.CommitData`,
  schemaDefinition: descriptor(
    'CommitData',
    [
      text('id'),
      text('committer'),
      text('message'),
      { name: 'creation_date', type: 'MESSAGE', typeName: '.google.protobuf.Timestamp' },
      text('meta_range_id'),
      {
        name: 'metadata',
        type: 'MESSAGE',
        typeName: `.${packageName}.CommitData.MetadataEntry`,
        repeated: true,
      },
      { ...text('parents'), repeated: true },
      { name: 'version', type: 'INT32' },
      { name: 'generation', type: 'INT32' },
    ],
    [metadataEntry],
  ),
};
