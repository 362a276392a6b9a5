import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { buildContext } from '@causeway/service/compose.ts';
import { type LimitName, loadConfig } from '@causeway/service/config.ts';
import { createLog } from '@causeway/service/log.ts';
import { serveMix } from './mix-server.ts';
import { mixSettings, type Outside } from './mix-world.ts';

// This process is an additional node, which uses the database of `mix-target.ts`.
const [outside = '', databaseUrl = '', dataDir = ''] = process.argv.slice(2);
const config = { ...loadConfig({ CAUSEWAY_DATA: dataDir }), ...mixSettings(JSON.parse(outside) as Outside) };
for (const name of Object.keys(config.limits) as LimitName[]) config.limits[name] = 1e9;
const stream = createWriteStream(join(dataDir, 'log-of-second-node'));
const log = createLog({ level: 'info', pretty: false, stream });
const { ctx } = await buildContext({ config, baseUrl: 'http://127.0.0.1', databaseUrl, log });
const { url } = await serveMix(ctx);
process.on('SIGTERM', () => process.exit(0));
process.send?.({ url });
