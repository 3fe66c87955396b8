import { expect, test } from 'vitest';
import { allButLinkLocal, networkProblem, publicAnd } from './address-rule.ts';

const setting = 'actions.allowed_networks';

test.each([
  ['8.8.8.8', true],
  ['127.0.0.1', true],
  ['10.1.2.3', true],
  ['::1', true],
  ['169.254.169.254', false],
  ['169.254.0.1', false],
  ['fe80::1', false],
  ['fe80::1%eth0', false],
  ['::ffff:169.254.169.254', false],
  ['::ffff:a9fe:a9fe', false],
  ['64:ff9b::169.254.169.254', false],
  ['2002:a9fe:a9fe::', false],
  ['fd00:ec2::254', false],
  ['100.100.100.200', false],
])('all but the link: %s is allowed: %s', (address, allowed) => {
  expect(allButLinkLocal(setting).allows(address)).toBe(allowed);
});

test.each([
  ['8.8.8.8', true],
  ['2606:4700::1111', true],
  ['10.1.2.3', true],
  ['10.2.0.1', false],
  ['127.0.0.1', false],
  ['0.0.0.0', false],
  ['::', false],
  ['::1', false],
  ['::127.0.0.1', false],
  ['::ffff:127.0.0.1', false],
  ['::ffff:10.1.2.3', true],
  ['64:ff9b::a00:1', false],
  ['64:ff9b::808:808', true],
  ['64:ff9b:1::a02:1', false],
  ['2002:7f00:1::', false],
  ['fd12::1', false],
  ['fd34::9', true],
  ['224.0.0.1', false],
  ['ff02::1', false],
  ['172.31.255.255', false],
  ['172.32.0.1', true],
  ['192.168.0.1', false],
  ['169.254.169.254', false],
])('public and two networks: %s is allowed: %s', (address, allowed) => {
  const rule = publicAnd({ setting, networks: ['10.1.0.0/16', 'fd34::/16'] });
  expect(rule.allows(address)).toBe(allowed);
});

test('a network that cannot be read is named', () => {
  expect(networkProblem('10.0.0.0/8')).toBeUndefined();
  expect(networkProblem('fd00::1')).toBeUndefined();
  for (const bad of ['10.0.0.0/33', '10.0.0/8', 'intranet', '', '10.0.0.0/8/9', '10.0.0.0/', 'fd00::/129']) {
    expect(networkProblem(bad), bad).toContain(`"${bad}"`);
  }
});
