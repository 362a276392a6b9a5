import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** A reverse proxy in front of nodes on loopback ports. */
type Proxy = {
  command: string;
  package: string;
  args(file: string): string[];
  config(folder: string, port: number, nodes: readonly number[]): string;
};

/**
 * `upstream` and `location` are extra directives for the blocks with these names. Without extra directives, nginx sends
 * HTTP/1.0 and buffers replies. With or without them, nginx does not notice that a node has stopped until the node
 * refuses a connection.
 */
const nginx = (upstream: string, location: string): Proxy => ({
  command: '/usr/sbin/nginx',
  package: 'nginx-light',
  args: (file) => ['-e', 'stderr', '-c', file],
  config: (folder, port, nodes) => `
daemon off;
${process.getuid?.() === 0 ? 'user root;' : ''}
worker_processes 1;
pid ${folder}/nginx.pid;
error_log stderr error;
events {}
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`).join('\n  ')}
  upstream causeway {
    ${nodes.map((node) => `server 127.0.0.1:${node} max_fails=1 fail_timeout=1s;`).join('\n    ')}
    ${upstream}
  }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://causeway;
      ${location}
      proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_set_header X-Forwarded-Proto https;
      proxy_connect_timeout 1s;
    }
  }
}
`,
});

/** `checks`: the directives that let HAProxy notice when a node stops. */
const haproxy = (checks: string): Proxy => ({
  command: '/usr/sbin/haproxy',
  package: 'haproxy',
  args: (file) => ['-db', '-f', file],
  config: (_folder, port, nodes) => `
defaults
  mode http
  timeout connect 1s
  timeout check 5s
  timeout client 30s
  timeout server 30s
  retries 3
  option redispatch 1
  option forwardfor
frontend public
  bind 127.0.0.1:${port}
  http-request set-header X-Forwarded-Proto https
  default_backend causeway
backend causeway
  ${checks}
  ${nodes.map((node, i) => `server node${i} 127.0.0.1:${node}`).join('\n  ')}
`,
});

const READINESS_CHECK = 'option httpchk GET /health/ready\n  http-check expect status 200';

export const PROXIES = {
  nginx: nginx('', ''),
  'nginx with keepalive': nginx('keepalive 16;', 'proxy_http_version 1.1; proxy_set_header Connection "";'),
  HAProxy: haproxy(`${READINESS_CHECK}\n  default-server check inter 200ms fall 1 rise 1`),
  'HAProxy with late checks': haproxy(`${READINESS_CHECK}\n  default-server check inter 5s fall 3 rise 1`),
  'HAProxy without checks': haproxy(''),
} satisfies Record<string, Proxy>;

/** Installs the proxies from Debian's packages. Returns why that is impossible, or null on success. */
export function installProxies(): string | null {
  const missing = [PROXIES.nginx, PROXIES.HAProxy].filter(({ command }) => !existsSync(command));
  if (missing.length === 0) return null;
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get'))
    return `${missing.map(({ command }) => command).join(' and ')} missing, and only root on Debian can install them`;
  const packages = missing.map((proxy) => proxy.package);
  // `RUNLEVEL=1` keeps the packages from starting their services.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  for (const args of [['update'], ['install', '-y', '--no-install-recommends', ...packages]]) {
    const { status, stderr } = spawnSync('apt-get', args, { env, encoding: 'utf8', timeout: 5 * 60_000 });
    if (status !== 0) return `apt-get ${args.join(' ')} failed: ${stderr.trim()}`;
  }
  return null;
}

/** Starts a proxy and waits until it forwards requests. */
export async function startProxy(
  name: keyof typeof PROXIES,
  folder: string,
  port: number,
  nodes: readonly number[],
): Promise<{ url: string; errors(): string[]; stop(): Promise<void> }> {
  const proxy = PROXIES[name];
  const file = join(folder, `${name.replaceAll(' ', '-')}.conf`);
  writeFileSync(file, proxy.config(folder, port, nodes));
  const child: ChildProcess = spawn(proxy.command, proxy.args(file), {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let logged = '';
  child.stderr?.on('data', (text) => {
    logged += text;
  });
  const exited = once(child, 'exit');
  const url = `http://127.0.0.1:${port}`;
  for (let attempt = 0; ; attempt++) {
    const isReady = await fetch(`${url}/health`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) break;
    if (attempt === 100 || child.exitCode !== null)
      throw new Error(`${name} does not forward requests: ${logged}`);
    await sleep(50);
  }
  return {
    url,
    // Ignores refused connections: a restarting node refuses them, and the proxy then uses another node.
    errors: () => logged.split('\n').filter((line) => line !== '' && !/Connection refused/.test(line)),
    stop: async () => {
      child.kill('SIGTERM');
      await exited;
    },
  };
}
