import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { base58 } from '@scure/base';
import ipaddr from 'ipaddr.js';
import { isPrivate } from 'tiny-secp256k1';
import type { Hex } from 'viem';
import { ed25519Key } from '../ed25519-key.ts';
import { redactKeys } from './json-file.ts';
import { isSandboxKey } from './sandbox-keys.ts';

/** Reads the text of a setting. `expects` completes the sentence "NAME: must be …". */
export type Parser<T> = {
  expects: string | ((isProduction: boolean) => string);
  /** Returns undefined if the text is invalid. */
  parse(text: string, isProduction: boolean): T | undefined;
};

export const text: Parser<string> = { expects: 'text', parse: (value) => value };

/** The address on which a server listens. An IPv6 address may be in brackets. */
export const host: Parser<string> = {
  expects: 'an IP address or a host name',
  parse: (value) => {
    const plain = value.replace(/^\[(.*)\]$/, '$1');
    return isIP(plain) !== 0 || /^[A-Za-z0-9.-]{1,253}$/.test(plain) ? plain : undefined;
  },
};

/** A path, made absolute. */
export const path: Parser<string> = { expects: 'a path', parse: (value) => resolve(value) };

export function oneOf<const T extends string>(...allowed: T[]): Parser<T> {
  return {
    expects: `one of ${allowed.join(', ')}`,
    parse: (value) => allowed.find((each) => each === value),
  };
}

export function integer(min: number, max: number): Parser<number> {
  return {
    expects: `an integer from ${min} to ${max}`,
    parse: (value) => {
      const number = Number(value);
      return /^\d{1,9}$/.test(value) && number >= min && number <= max ? number : undefined;
    },
  };
}

/** A URL without its trailing slash. `sandbox` lists protocols that only the sandbox accepts. */
export function url(protocols: readonly string[], sandbox: readonly string[] = []): Parser<string> {
  const allowed = (isProduction: boolean) => (isProduction ? protocols : [...protocols, ...sandbox]);
  return {
    expects: (isProduction) => `a URL that starts with ${allowed(isProduction).join('// or ')}//`,
    parse: (value, isProduction) =>
      URL.canParse(value) && allowed(isProduction).includes(new URL(value).protocol)
        ? value.replace(/\/$/, '')
        : undefined,
  };
}

/** The URL of a database on one host or on several. */
export const databaseUrl: Parser<string> = {
  expects:
    'a URL that starts with postgres:// or postgresql:// and has one host or several, such as one:5432,two:5432',
  parse: (value) => {
    const isValid = (each: string) => URL.canParse(each) && /^postgres(ql)?:$/.test(new URL(each).protocol);
    return splitHosts(value).every(isValid) ? value.replace(/\/$/, '') : undefined;
  },
};

/** A URL that must use TLS in production. */
export const providerUrl = url(['https:'], ['http:']);

/** Comma-separated values. Trims them and drops empty ones. */
export const list: Parser<string[]> = { expects: 'a comma-separated list', parse: splitList };

/** A country, or some of its regions, given as ISO 3166-2 codes without the country prefix. */
export type Area = { country_iso_2: string; regions?: string[] };

export const areas: Parser<Area[]> = {
  expects: 'a comma-separated list of codes such as KP and UA-43, or "none"',
  parse: (value) => {
    const codes = value === 'none' ? [] : splitList(value).map((code) => code.toUpperCase());
    if (!codes.every((code) => /^[A-Z]{2}(-[A-Z0-9]{1,3})?$/.test(code))) return undefined;
    return codes.map((code) => {
      const [country_iso_2 = '', region] = code.split('-');
      return { country_iso_2, ...(region !== undefined && { regions: [region] }) };
    });
  },
};

export const urlList: Parser<string[]> = {
  expects: 'a comma-separated list of URLs that start with https:// or http://',
  parse: (value) => {
    const urls = splitList(value);
    return urls.every((each) => URL.canParse(each) && /^https?:$/.test(new URL(each).protocol))
      ? urls
      : undefined;
  },
};

/** Networks in CIDR notation. */
export const cidrList: Parser<string[]> = {
  expects: 'a comma-separated list of networks such as 10.0.0.0/8',
  parse: (value) => {
    const networks = splitList(value);
    return networks.every((each) => ipaddr.isValidCIDR(each)) ? networks : undefined;
  },
};

const PRIVATE_NETWORKS = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'];
const NAMED_NETWORKS: Record<string, string[]> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  private: PRIVATE_NETWORKS,
};

/** Networks of proxies: CIDRs, addresses, `loopback` and `private`. */
export const proxies: Parser<string[]> = {
  expects:
    '"none", or a comma-separated list of proxy networks such as loopback, private, 10.1.0.0/16 or 192.0.2.7',
  parse: (value) => {
    if (value === 'none' || value === 'false') return [];
    const networks = splitList(value).flatMap((each) => NAMED_NETWORKS[each] ?? [each]);
    const isValid = (each: string) => ipaddr.isValidCIDR(each) || isIP(each) !== 0;
    return networks.every(isValid) ? networks : undefined;
  },
};

export const mailAddress: Parser<string> = {
  expects: 'an email address, such as "Causeway <no-reply@example.com>"',
  parse: (value) =>
    /^([^<>\r\n]+ <[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/.test(value) ? value : undefined,
};

export const privateKey: Parser<Hex> = {
  expects: (isProduction) =>
    `a private key (0x and 64 hexadecimal digits)${isProduction ? ' that is not one of the published sandbox keys' : ''}`,
  parse: (value, isProduction) => {
    if (!/^0x[0-9a-fA-F]{64}$/.test(value) || !isPrivate(Buffer.from(value.slice(2), 'hex')))
      return undefined;
    return isProduction && isSandboxKey(value) ? undefined : (value as Hex);
  },
};

/** An Ed25519 seed, alone or, as in the files of Solana's tools, followed by its public key. */
export const solanaKey: Parser<Buffer> = {
  expects: (isProduction) =>
    `an Ed25519 key (in base58 or as a JSON array of 64 numbers)${isProduction ? ' that is not one of the published sandbox keys' : ''}`,
  parse: (value, isProduction) => {
    const bytes = decodeSolanaKey(value);
    if (bytes === null || (bytes.length !== 32 && bytes.length !== 64)) return undefined;
    const seed = bytes.subarray(0, 32);
    if (bytes.length === 64 && !bytes.subarray(32).equals(ed25519Key(seed).publicKey)) return undefined;
    return isProduction && isSandboxKey(seed.toString('hex')) ? undefined : seed;
  },
};

function decodeSolanaKey(value: string): Buffer | null {
  try {
    if (!value.startsWith('[')) return value.length > 90 ? null : Buffer.from(base58.decode(value));
    const numbers: unknown = JSON.parse(value);
    const isBytes =
      Array.isArray(numbers) && numbers.every((each) => Number.isInteger(each) && each >= 0 && each < 256);
    return isBytes ? Buffer.from(numbers) : null;
  } catch {
    return null;
  }
}

/** KMS key ids have 36 characters. A private key of 32 bytes has at least 43 in any common encoding. */
const MAX_KMS_ID_LENGTH = 40;

/**
 * The id, alias or ARN of a KMS key. Rejects everything that could be a private key, because the id is sent to the KMS.
 */
export const kmsKeyId: Parser<string> = {
  expects: 'the id, alias or ARN of a KMS key, not a private key',
  parse: (value) => {
    if (!/^[\w:/.-]+$/.test(value)) return undefined;
    const isNamed = value.startsWith('alias/') || value.startsWith('arn:');
    const mayBeKey = value.length > MAX_KMS_ID_LENGTH || redactKeys(value) !== value;
    return isNamed || !mayBeKey ? value : undefined;
  },
};

/** Base64 secrets of at least 32 bytes, newest first. */
export const secrets: Parser<Buffer[]> = {
  expects:
    '32 random bytes in base64 (openssl rand -base64 32), or a comma-separated list of such secrets, newest first',
  parse: (value) => {
    const parsed = value.split(',').map((part) => Buffer.from(part.trim(), 'base64'));
    return parsed.every((secret) => secret.length >= 32) ? parsed : undefined;
  },
};

/** `Name: value`. */
export const header: Parser<{ name: string; value: string }> = {
  expects: 'a header with a value of at least 16 characters, such as "X-Key: 0123456789abcdef"',
  parse: (value) => {
    const match = /^([A-Za-z0-9-]{1,100}):\s*(\S.{15,})$/.exec(value);
    return match === null
      ? undefined
      : { name: String(match[1]).toLowerCase(), value: String(match[2]).trim() };
  },
};

function splitList(value: string): string[] {
  return value
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** Returns one URL per host. */
export function splitHosts(url: string): string[] {
  const [, start = '', hosts = '', rest = ''] = /^(\w+:\/\/(?:[^@/?]*@)?)([^/?]*)(.*)$/s.exec(url) ?? [];
  return hosts.includes(',') ? hosts.split(',').map((host) => `${start}${host}${rest}`) : [url];
}
