import { BlockList, isIPv4, isIPv6 } from 'node:net';

/** Which addresses a request may go to. */
export interface AddressRule {
  allows(address: string): boolean;
  /** The setting an operator changes to allow more. */
  readonly setting: string;
}

interface RuleOptions {
  readonly setting: string;
  /** CIDR blocks or single addresses. */
  readonly networks: readonly string[];
}

/** The link itself, and where clouds tell virtual machines their secrets. */
const linkAndMetadata = [
  '169.254.0.0/16',
  'fe80::/10',
  '100.100.100.200/32',
  '168.63.129.16/32',
  '192.0.0.192/32',
  'fd00:ec2::254/128',
  'fd20:ce::254/128',
];

/** Everything that is not the public internet. */
const notPublic = [
  ...linkAndMetadata,
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
  '::/128',
  '::1/128',
  '100::/64',
  '2001:db8::/32',
  'fc00::/7',
  'fec0::/10',
  'ff00::/8',
];

/** Public addresses and the given networks. */
export function publicAnd({ setting, networks }: RuleOptions): AddressRule {
  return ruleOf(setting, notPublic, blockListOf(networks));
}

/** The given networks and nothing else. */
export function only({ setting, networks }: RuleOptions): AddressRule {
  return ruleOf(setting, ['0.0.0.0/0', '::/0'], blockListOf(networks));
}

/** Every address but the link's and those of metadata services. */
export function allButLinkLocal(setting: string): AddressRule {
  return ruleOf(setting, linkAndMetadata, new BlockList());
}

function ruleOf(setting: string, refusedNetworks: readonly string[], allowed: BlockList): AddressRule {
  // Made when first asked: most servers never are, and it takes milliseconds of each start.
  let refused: BlockList | undefined;
  const contains = (list: BlockList, address: string): boolean =>
    list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
  const isAllowed = (address: string): boolean =>
    contains(allowed, address) || !contains((refused ??= blockListOf(refusedNetworks)), address);
  return { setting, allows: (address) => spellingsOf(address).every(isAllowed) };
}

/** Throws a `TypeError` that names the network which cannot be read. */
function blockListOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) addNetwork(list, network);
  return list;
}

/** Why a network cannot be used, or undefined. */
export function networkProblem(network: string): string | undefined {
  try {
    blockListOf([network]);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function addNetwork(list: BlockList, network: string): void {
  const [address = '', bits, ...rest] = network.split('/');
  const family = isIPv4(address) ? 'ipv4' : 'ipv6';
  const most = family === 'ipv4' ? 32 : 128;
  const length = bits === undefined ? most : /^\d{1,3}$/.test(bits) ? Number(bits) : -1;
  if ((!isIPv4(address) && !isIPv6(address)) || rest.length > 0 || length < 0 || length > most) {
    throw new TypeError(`"${network}" is not a network such as 10.0.0.0/8 or fd00::/8`);
  }
  list.addSubnet(address, length, family);
}

/** The address and the IPv4 address inside it that a gateway or the system would go on to. */
function spellingsOf(address: string): string[] {
  if (isIPv4(address)) return [address];
  const bytes = bytesOf(address);
  if (bytes === undefined) return [address];
  const inside = embeddedIpv4(bytes);
  return inside === undefined ? [address] : inside.isWhole ? [inside.address] : [address, inside.address];
}

function embeddedIpv4(bytes: Buffer): { address: string; isWhole: boolean } | undefined {
  const dotted = (at: number): string => [...bytes.subarray(at, at + 4)].join('.');
  const starts = (hex: string): boolean => bytes.toString('hex').startsWith(hex);
  // Mapped and the deprecated compatible form, but not :: and ::1 themselves.
  if (starts('00000000000000000000ffff')) return { address: dotted(12), isWhole: true };
  if (starts('000000000000000000000000') && bytes.readUInt32BE(12) > 1)
    return { address: dotted(12), isWhole: true };
  // NAT64 (well-known and local prefix) and 6to4.
  if (starts('0064ff9b0000000000000000') || starts('0064ff9b0001'))
    return { address: dotted(12), isWhole: false };
  if (starts('2002')) return { address: dotted(2), isWhole: false };
  return undefined;
}

/** The sixteen bytes of an IPv6 address; its zone is not part of it. */
function bytesOf(address: string): Buffer | undefined {
  const [plain = ''] = address.split('%');
  if (!isIPv6(plain)) return undefined;
  const tail = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(plain);
  const hex = (high: string | undefined, low: string | undefined): string =>
    ((Number(high) << 8) | Number(low)).toString(16);
  const groups = tail === null ? plain : `${tail[1] ?? ''}${hex(tail[2], tail[3])}:${hex(tail[4], tail[5])}`;
  const [left = '', right] = groups.split('::');
  const split = (text: string): string[] => (text === '' ? [] : text.split(':'));
  const [before, after] = [split(left), split(right ?? '')];
  const zeros = right === undefined ? [] : Array<string>(8 - before.length - after.length).fill('0');
  const bytes = Buffer.alloc(16);
  for (const [index, group] of [...before, ...zeros, ...after].entries()) {
    bytes.writeUInt16BE(Number.parseInt(group, 16), index * 2);
  }
  return bytes;
}
