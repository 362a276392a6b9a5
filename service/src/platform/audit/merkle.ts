import { hash as digest } from 'node:crypto';

const NODE_PREFIX = Buffer.from([1]);

export function hashNode(left: Buffer, right: Buffer): Buffer {
  return digest('sha256', Buffer.concat([NODE_PREFIX, left, right]), 'buffer');
}
