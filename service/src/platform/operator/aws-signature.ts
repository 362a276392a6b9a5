import { createHash, createHmac } from 'node:crypto';
import type { AwsCredentials } from '../../kernel/config/operator-key.ts';

type Request = {
  url: URL;
  /** The headers, with names in lower case. All of them are signed. */
  headers: Record<string, string>;
  body: string;
};

type Scope = {
  region: string;
  service: string;
  /** Milliseconds since the epoch. */
  now: number;
};

/** Returns the headers of a POST request, including the AWS Signature Version 4 authorization. */
export function signAwsRequest(
  { url, headers, body }: Request,
  credentials: AwsCredentials,
  { region, service, now }: Scope,
): Record<string, string> {
  const time = new Date(now).toISOString().replace(/[-:]|\.\d{3}/g, '');
  const date = time.slice(0, 8);
  const all: Record<string, string> = {
    ...headers,
    host: url.host,
    'x-amz-date': time,
    ...(credentials.sessionToken === null ? {} : { 'x-amz-security-token': credentials.sessionToken }),
  };
  const names = Object.keys(all).sort();
  const canonical = [
    'POST',
    url.pathname,
    '',
    ...names.map((name) => `${name}:${all[name]?.trim()}`),
    '',
    names.join(';'),
    sha256(body),
  ].join('\n');
  const scope = `${date}/${region}/${service}/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n');
  const key = [date, region, service, 'aws4_request'].reduce<Buffer | string>(
    (previous, part) => hmac(previous, part),
    `AWS4${credentials.secretAccessKey}`,
  );
  const signature = hmac(key, text).toString('hex');
  return {
    ...all,
    authorization: `AWS4-HMAC-SHA256 Credential=${credentials.accessKeyId}/${scope}, SignedHeaders=${names.join(';')}, Signature=${signature}`,
  };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function hmac(key: Buffer | string, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
