export interface Chapter {
  readonly title: string;
  /** Pages by their path in `docs/`, in the order in which one reads them. */
  readonly pages: readonly string[];
}

/** Every page of the site; the build fails when one is missing here, or here only. */
export const contents: readonly Chapter[] = [
  { title: 'Begin', pages: ['README.md', 'quick-start.md', 'concepts.md', 'comparison.md'] },
  {
    title: 'Guides',
    pages: [
      'guides/boto3.md',
      'guides/test-environments.md',
      'guides/ci-for-data.md',
      'guides/gates.md',
      'guides/rollback.md',
      'guides/retention.md',
      'time-travel.md',
      'merging.md',
      'hooks.md',
      'events.md',
      'garbage-collection.md',
      'sdk.md',
    ],
  },
  {
    title: 'Tools',
    pages: [
      'integrations/README.md',
      'integrations/duckdb.md',
      'integrations/pandas-polars.md',
      'integrations/spark.md',
      'integrations/rclone.md',
      'integrations/iceberg.md',
      'integrations/delta.md',
      'integrations/dbt.md',
      'integrations/huggingface.md',
      'integrations/airflow.md',
      'integrations/trino.md',
      'integrations/metastore.md',
      'integrations/mount.md',
    ],
  },
  {
    title: 'Deploy',
    pages: [
      'deployment/README.md',
      'deployment/linux.md',
      'deployment/docker.md',
      'deployment/kubernetes.md',
      'deployment/postgresql.md',
      'deployment/aws.md',
      'deployment/dynamodb.md',
      'deployment/azure.md',
      'deployment/cosmosdb.md',
      'deployment/google-cloud.md',
      'sizing.md',
    ],
  },
  {
    title: 'Operate',
    pages: [
      'backup.md',
      'verify.md',
      'upgrading.md',
      'migrating-from-lakefs.md',
      'tracing.md',
      'troubleshooting.md',
      'limits.md',
      'performance.md',
    ],
  },
  {
    title: 'Security and sign-in',
    pages: [
      'security.md',
      'access.md',
      'sign-in/openid-connect.md',
      'sign-in/ldap.md',
      'sign-in/provisioning.md',
      'sign-in/services.md',
      'sign-in/e-mail.md',
    ],
  },
  {
    title: 'Reference',
    pages: ['api/README.md', 'cli.md', 'configuration.md', 'metrics.md', 'logs.md', 's3.md'],
  },
  {
    title: 'Project',
    pages: ['changelog.md', 'reporting.md', 'releasing.md', 'dependencies.md', 'design/committed-trees.md'],
  },
];
