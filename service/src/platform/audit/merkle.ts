import { createHash, hash as digest } from 'node:crypto';

/** A node at level `n` covers 2^n leaves, starting at leaf `index` * 2^n. */
export type TreeNode = { level: number; index: number; hash: Buffer };
export type NodeOf = (level: number, index: number) => Buffer;

export function hashLeaf(text: string): Buffer {
  return createHash('sha256').update('\u0000').update(text).digest();
}

const NODE_PREFIX = Buffer.from([1]);

export function hashNode(left: Buffer, right: Buffer): Buffer {
  return digest('sha256', Buffer.concat([NODE_PREFIX, left, right]), 'buffer');
}

/**
 * Returns the frontier of a tree with `size` leaves: the roots of the complete subtrees that make up the tree. These
 * roots are the only nodes needed to append leaves.
 */
export function frontierOf(size: number): { level: number; index: number }[] {
  const nodes: { level: number; index: number }[] = [];
  for (let level = 0; 2 ** level <= size; level++) {
    const index = Math.floor(size / 2 ** level) - 1;
    if (index % 2 === 0) nodes.push({ level, index });
  }
  return nodes;
}

/** Returns the nodes that become complete when the leaves are appended to a tree with `size` leaves. */
export function appendLeaves(size: number, frontier: NodeOf, leaves: readonly Buffer[]): TreeNode[] {
  const nodes: TreeNode[] = [];
  const known = new Map<string, Buffer>();
  for (const [n, leaf] of leaves.entries()) {
    let node: TreeNode = { level: 0, index: size + n, hash: leaf };
    for (;;) {
      nodes.push(node);
      known.set(`${node.level} ${node.index}`, node.hash);
      if (node.index % 2 === 0) break;
      const { level, index, hash } = node;
      const left = known.get(`${level} ${index - 1}`) ?? frontier(level, index - 1);
      node = { level: level + 1, index: (index - 1) / 2, hash: hashNode(left, hash) };
    }
  }
  return nodes;
}

/** Returns the hash of the leaves from `from` up to, but not including, `to` (RFC 6962, section 2.1). */
function hashRange(nodeOf: NodeOf, from: number, to: number): Buffer {
  const size = to - from;
  const level = Math.log2(size);
  if (Number.isInteger(level)) return nodeOf(level, from / size);
  const middle = from + splitOf(size);
  return hashNode(hashRange(nodeOf, from, middle), hashRange(nodeOf, middle, to));
}

/** Returns the largest power of two below `size`. */
function splitOf(size: number): number {
  return 2 ** Math.ceil(Math.log2(size) - 1);
}

export function hashTree(nodeOf: NodeOf, size: number): Buffer {
  return hashRange(nodeOf, 0, size);
}

/**
 * Returns the inclusion proof of a leaf (RFC 6962, section 2.1.1): the sibling hashes on the path from the leaf to the
 * root.
 */
export function proveLeaf(nodeOf: NodeOf, index: number, size: number): Buffer[] {
  const path: Buffer[] = [];
  let [from, to] = [0, size];
  while (to - from > 1) {
    const middle = from + splitOf(to - from);
    if (index < middle) {
      path.unshift(hashRange(nodeOf, middle, to));
      to = middle;
    } else {
      path.unshift(hashRange(nodeOf, from, middle));
      from = middle;
    }
  }
  return path;
}
