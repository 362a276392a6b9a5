import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, posix, relative, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import solc from 'solc';

type Artifact = {
  abi: { type: string }[];
  evm: { bytecode: { object: string }; deployedBytecode: { object: string } };
};
type Message = { severity: string; formattedMessage: string; sourceLocation?: { file: string } };
type Output = { errors?: Message[]; contracts: Record<string, Record<string, Artifact>> };

const packageFolder = dirname(fileURLToPath(import.meta.url));
const sourceFolders = ['src', 'test/solidity'];

const settings = {
  evmVersion: 'cancun',
  optimizer: { enabled: true, runs: 10_000 },
  // Omits the metadata hash, so that paths and comments do not affect the bytecode.
  metadata: { appendCBOR: false, bytecodeHash: 'none' },
  outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object', 'evm.deployedBytecode.object'] } },
};

function readSources(): Record<string, { content: string }> {
  return Object.fromEntries(
    sourceFolders
      .flatMap(listSources)
      .map((path) => [path, { content: readFileSync(join(packageFolder, path), 'utf8') }]),
  );
}

/**
 * Hashes all compiler inputs, so that a test can detect stale files in `abi/` without compiling. Line endings do not
 * affect the hash.
 */
export function fingerprintSources(): string {
  const inputs = JSON.stringify([solc.version(), soladyVersion(), settings, readSources()]).replaceAll(
    '\\r\\n',
    '\\n',
  );
  return createHash('sha256').update(inputs).digest('hex');
}

/** Compiles every contract. Returns the text of each module by its path under `abi/`. */
export function compileContracts(): Map<string, string> {
  const sources = readSources();
  const input = JSON.stringify({ language: 'Solidity', sources, settings });
  const output: Output = JSON.parse(solc.compile(input, { import: readImport }));
  const problems = (output.errors ?? []).filter(isProblem);
  if (problems.length > 0) throw new Error(problems.map((error) => error.formattedMessage).join('\n'));

  const modules = new Map<string, string>([['fingerprint.ts', printFingerprint()]]);
  for (const path of Object.keys(sources)) {
    for (const [name, artifact] of Object.entries(output.contracts[path] ?? {})) {
      if (!isDeployable(artifact)) continue;
      const folder = path.startsWith('test/') ? 'test/' : '';
      modules.set(`${folder}${kebab(name)}.ts`, printModule(name, artifact));
    }
  }
  return modules;
}

// Warnings also fail the build, except warnings in the pinned library.
function isProblem({ severity, sourceLocation }: Message): boolean {
  return severity === 'error' || !sourceLocation?.file.startsWith('solady/');
}

// Excludes interfaces and abstract contracts, which have no code, and libraries with only internal functions, which
// nobody can call.
function isDeployable({ abi, evm }: Artifact): boolean {
  return evm.bytecode.object !== '' && abi.some(({ type }) => type === 'function');
}

function listSources(folder: string): string[] {
  return readdirSync(join(packageFolder, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.sol'))
    .map((name) => posix.join(folder, name.split(sep).join('/')))
    .sort();
}

function soladyVersion(): string {
  const { version } = createRequire(import.meta.url)('solady/package.json') as { version: string };
  return version;
}

function printFingerprint(): string {
  return `export const fingerprint = '${fingerprintSources()}';\n`;
}

function readImport(path: string): { contents: string } | { error: string } {
  const prefix = 'solady/';
  if (!path.startsWith(prefix)) return { error: `${path} is outside solady, the only allowed library` };
  const solady = dirname(createRequire(import.meta.url).resolve('solady/package.json'));
  return { contents: readFileSync(join(solady, 'src', path.slice(prefix.length)), 'utf8') };
}

function printModule(name: string, { abi, evm }: Artifact): string {
  const entries = abi.map((entry) => `    ${JSON.stringify(entry)},`).join('\n');
  return `// Compiled from ${name}.sol by \`npm run build -w contracts\`.
export const ${name.charAt(0).toLowerCase()}${name.slice(1)} = {
  abi: [
${entries}
  ] as const,
  bytecode: '0x${evm.bytecode.object}' as \`0x\${string}\`,
  deployedBytecode: '0x${evm.deployedBytecode.object}' as \`0x\${string}\`,
};
`;
}

function kebab(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase();
}

/** Lists the files under `abi/` that differ from the compiled modules, are missing, or no longer have a source. */
export function findStale(modules: Map<string, string>): string[] {
  const present = new Map(
    listPresent().map((path) => [path, readFileSync(join(packageFolder, 'abi', path), 'utf8')]),
  );
  const paths = new Set([...modules.keys(), ...present.keys()]);
  return [...paths].filter((path) => modules.get(path) !== present.get(path)).sort();
}

function listPresent(): string[] {
  mkdirSync(join(packageFolder, 'abi'), { recursive: true });
  return readdirSync(join(packageFolder, 'abi'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) =>
      relative(join(packageFolder, 'abi'), join(entry.parentPath, entry.name)).split(sep).join('/'),
    );
}

function writeModules(modules: Map<string, string>): void {
  rmSync(join(packageFolder, 'abi'), { recursive: true, force: true });
  for (const [path, text] of modules) {
    mkdirSync(dirname(join(packageFolder, 'abi', path)), { recursive: true });
    writeFileSync(join(packageFolder, 'abi', path), text);
  }
}

function main(args: string[]): void {
  const modules = compileContracts();
  const stale = findStale(modules);
  if (!args.includes('--check')) {
    writeModules(modules);
  } else if (stale.length > 0) {
    console.error(`abi/ is stale; run \`npm run build -w contracts\`:\n${stale.join('\n')}`);
    process.exitCode = 1;
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main(process.argv.slice(2));
