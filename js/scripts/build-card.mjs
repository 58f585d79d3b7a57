// Bundles the widget into the two files that the Python package reads, and holds the sizes to their limits.
import { build } from 'esbuild';
import { copyFileSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const js = dirname(dirname(fileURLToPath(import.meta.url)));
const python = join(js, '..', 'cowork_jupyter');
const development = process.argv.includes('--development');

// Every saved widget carries card.js, so its size is paid once for each card in each notebook.
const CARD_LIMIT_KB = 60;
const LAB_LIMIT_KB = 200;

await build({
  absWorkingDir: js,
  entryPoints: { card: 'src/widgets/card.tsx' },
  outdir: join(python, 'static'),
  bundle: true,
  format: 'esm',
  target: 'es2022',
  minify: !development,
  legalComments: 'none',
  logLevel: 'warning'
});
await build({
  absWorkingDir: js,
  entryPoints: { card: 'style/card.css' },
  outdir: join(python, 'static'),
  bundle: true,
  minify: !development,
  logLevel: 'warning'
});
// The bundle holds Preact, whose licence asks to go with it.
copyFileSync(join(js, 'node_modules', 'preact', 'LICENSE'), join(python, 'static', 'preact.LICENSE.txt'));

function sizeKb(...files) {
  return files.reduce((sum, file) => sum + statSync(file).size, 0) / 1024;
}

const labFiles = join(python, 'labextension', 'static');
const sizes = [
  ['static/card.js', sizeKb(join(python, 'static', 'card.js')), CARD_LIMIT_KB],
  ['static/card.css', sizeKb(join(python, 'static', 'card.css')), CARD_LIMIT_KB],
  [
    'labextension/static/*.js',
    sizeKb(...readdirSync(labFiles).filter(name => name.endsWith('.js')).map(name => join(labFiles, name))),
    LAB_LIMIT_KB
  ]
];
for (const [name, size, limit] of sizes) {
  console.log(`${name}: ${size.toFixed(1)} KB`);
  if (!development && size > limit) {
    console.error(`${name} is larger than its limit of ${limit} KB.`);
    process.exitCode = 1;
  }
}
