// Bundles the widget into the two files that the Python package reads, and holds the sizes to their limits.
import { build } from 'esbuild';
import { copyFileSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const js = dirname(dirname(fileURLToPath(import.meta.url)));
const python = join(js, '..', 'cowork_jupyter');
const development = process.argv.includes('--development');

// Each widget's state holds the whole of card.js, so its size is paid once for each card: over the wire, and in
// notebooks that keep their widgets.
const CARD_LIMIT_KB = 60;
const UNPACKED_LIMIT_KB = 110;
const LAB_LIMIT_KB = 300;

// The script unpacks itself: less than half the size, and anywidget loads scripts from blobs anyway.
function selfUnpacking(script) {
  return `const packed="${gzipSync(script, { level: 9 }).toString('base64')}";
async function unpack(){
const bytes=Uint8Array.from(atob(packed),c=>c.charCodeAt(0));
const script=await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
const url=URL.createObjectURL(new Blob([script],{type:"text/javascript"}));
try{return (await import(url)).default}finally{URL.revokeObjectURL(url)}
}
let widget;
export default {async render(props){widget??=unpack();return (await widget).render(props)}};
`;
}

const bundled = await build({
  absWorkingDir: js,
  entryPoints: { card: 'src/widgets/card.tsx' },
  outdir: join(python, 'static'),
  bundle: true,
  format: 'esm',
  target: 'es2022',
  minify: !development,
  legalComments: 'none',
  logLevel: 'warning',
  write: false
});
const script = bundled.outputFiles[0].contents;
const unpackedKb = script.length / 1024;
mkdirSync(join(python, 'static'), { recursive: true });
writeFileSync(join(python, 'static', 'card.js'), development ? script : selfUnpacking(script));
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
  ['static/card.js, unpacked', unpackedKb, UNPACKED_LIMIT_KB],
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
