import { readFile, stat } from 'node:fs/promises';

/** The user that runs the server if this process is root, because PostgreSQL refuses to run as root. */
export interface ServerUser {
  uid: number;
  gid: number;
}

const CANDIDATES = ['causeway', 'postgres', '_postgres', 'nobody'];

/**
 * Returns the server's user if this process is root. Otherwise returns undefined, and the server runs as the same user
 * as this process.
 */
export async function chooseServerUser(clusterDir: string): Promise<ServerUser | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  // A cluster created by an ordinary user keeps its owner, so that the next start without root still works.
  const owner = await stat(clusterDir).catch(() => undefined);
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };

  const users = parsePasswd(await readFile('/etc/passwd', 'utf8').catch(() => ''));
  for (const name of CANDIDATES) {
    const user = users.get(name);
    if (user && user.uid !== 0) return user;
  }
  throw new Error(
    `PostgreSQL cannot run as root, and none of the users ${CANDIDATES.join(', ')} exists. ` +
      'Start as an ordinary user, or set DATABASE_URL to your own PostgreSQL.',
  );
}

export function parsePasswd(text: string): Map<string, ServerUser> {
  const users = new Map<string, ServerUser>();
  for (const line of text.split('\n')) {
    const [name, , uid, gid] = line.split(':');
    if (!name || name.startsWith('#') || !/^-?\d+$/.test(uid ?? '') || !/^-?\d+$/.test(gid ?? '')) continue;
    users.set(name, { uid: Number(uid), gid: Number(gid) });
  }
  return users;
}
