import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../test/helper/start/redis-process.ts';
import type { Cleanup } from './cleanup.ts';
import { startListener } from './program.ts';
import type { Target } from './target.ts';

/** nginx and HAProxy as plain proxies on one core each, if installed. */
export async function startPlainProxies(cleanup: Cleanup, upstreamUrl: string): Promise<Target[]> {
  const upstream = new URL(upstreamUrl).host;
  const targets: Target[] = [];
  const start = async (
    name: string,
    configOf: (folder: string, port: number) => string,
    argsOf: (file: string, folder: string) => string[],
  ) => {
    if (spawnSync(name, ['-v']).error) return;
    const folder = mkdtempSync(join(tmpdir(), `tollgate-bench-${name}-`));
    cleanup.add(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, 'config');
    const port = await freePort();
    writeFileSync(file, configOf(folder, port));
    const { pid } = await startListener(cleanup, name, argsOf(file, folder), port);
    targets.push({ name, urls: [`http://127.0.0.1:${port}`], pids: [pid] });
  };
  await start(
    'nginx',
    (folder, port) => nginxConfig(folder, port, upstream),
    (file, folder) => ['-c', file, '-p', folder],
  );
  await start(
    'haproxy',
    (_folder, port) => haproxyConfig(port, upstream),
    (file) => ['-db', '-f', file],
  );
  return targets;
}

/** One process, no access log, keep-alive connections upstream, no buffering of streams and bodies on disk. */
function nginxConfig(folder: string, port: number, upstream: string): string {
  return `daemon off;
master_process off;
pid ${folder}/pid;
error_log stderr error;
events { worker_connections 8192; }
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${folder}/${kind};`).join('\n  ')}
  client_max_body_size 64m;
  client_body_buffer_size 2m;
  upstream bench { server ${upstream}; keepalive 256; }
  server {
    listen 127.0.0.1:${port};
    keepalive_requests 1000000;
    location / {
      proxy_pass http://bench;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
    }
  }
}
`;
}

function haproxyConfig(port: number, upstream: string): string {
  return `global
  nbthread 1
  maxconn 8192
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
frontend bench
  bind 127.0.0.1:${port}
  default_backend upstream
backend upstream
  http-reuse always
  server upstream ${upstream}
`;
}
