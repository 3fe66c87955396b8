import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { promtool, tempDir } from '@svc/testing';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';

const run = promisify(execFile);
const rules = join(import.meta.dirname, '../../../deploy/prometheus/alerts.yaml');

test('Prometheus takes the alert rules', async () => {
  const { stdout } = await run(await promtool(), ['check', 'rules', rules]);
  expect(stdout).toContain('SUCCESS');
});

/** Series that must fire an alert after a while, and that the same series at ease must not. */
const cases = [
  { alert: 'SvcDown', bad: { 'up{job="svc",instance="a"}': '0x40' }, good: { 'up{job="svc"}': '1x40' } },
  {
    alert: 'SvcErrors',
    bad: { 'api_requests_total{code="500"}': '0+10x40', 'api_requests_total{code="200"}': '0+100x40' },
    good: { 'api_requests_total{code="500"}': '0+1x40', 'api_requests_total{code="200"}': '0+100x40' },
  },
  {
    alert: 'SvcEventsLate',
    bad: { svc_event_lag_seconds: '120x40' },
    good: { svc_event_lag_seconds: '1x40' },
  },
  {
    alert: 'SvcDamagedTables',
    bad: { 'svc_damaged_tables_total{kind="range"}': '0x10 1x30' },
    good: { 'svc_damaged_tables_total{kind="range"}': '0x40' },
  },
];

test.each(cases)('$alert fires when it should, and only then', async ({ alert, bad, good }) => {
  const fires = async (series: Record<string, string>): Promise<boolean> => {
    const file = join(tempDir(), 'rules-test.yaml');
    const input = Object.entries(series).map(([name, values]) => ({ series: name, values }));
    const expected = { eval_time: '30m', alertname: alert, exp_alerts: [] };
    const tests = [{ interval: '1m', input_series: input, alert_rule_test: [expected] }];
    writeFileSync(file, stringify({ rule_files: [rules], evaluation_interval: '1m', tests }));
    return run(await promtool(), ['test', 'rules', file]).then(
      () => false,
      (error: { stdout: string; stderr: string }) => {
        expect(`${error.stdout}${error.stderr}`).toContain(`Labels:{alertname="${alert}"`);
        return true;
      },
    );
  };
  expect(await fires(bad)).toBe(true);
  expect(await fires(good)).toBe(false);
});
