/** The README of a new repository with sample data: what to try first, with the repository's own names. */
export function sampleReadme(repository: string, branch: string): string {
  return `# ${repository}

This repository holds a little weather data so that you can try version control on it.

| File | What it is |
|---|---|
| \`data/stations.csv\` | six weather stations |
| \`data/readings/2026-01.json\` | a month of their readings |
| \`weather.parquet\` | a year of readings, for your favourite query engine |
| \`images/temperature.png\` | the same year as a picture |

## Try a change without touching \`${branch}\`

\`\`\`sh
svcctl branch create svc://${repository}/experiment --source svc://${repository}/${branch}
echo "X07,New Station,12.1,15.0,294" > new-station.csv
svcctl fs upload svc://${repository}/experiment/data/new-station.csv --source new-station.csv
svcctl diff svc://${repository}/experiment
svcctl commit svc://${repository}/experiment -m "Add a station"
\`\`\`

\`${branch}\` still shows the old data to everybody else. When you like the change, merge it, all files at once:

\`\`\`sh
svcctl diff svc://${repository}/${branch} svc://${repository}/experiment
svcctl merge svc://${repository}/experiment svc://${repository}/${branch}
\`\`\`

## Use any S3 tool

The repository is a bucket and the branch is the first part of the key. The endpoint is the address of this server:

\`\`\`sh
aws s3 ls s3://${repository}/${branch}/ --endpoint-url "$SVC_ENDPOINT"
\`\`\`

\`${branch}\` is protected: changes reach it by merging. The rule is in the repository's settings.
`;
}
