// Bundles the widget into the two files that the Python package reads, and holds the sizes to their
// limits.
import zopfli from '@gfx/zopfli';
import { rspack } from '@rspack/core';
import { build, transform } from 'esbuild';
import { copyFileSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const js = dirname(dirname(fileURLToPath(import.meta.url)));
const python = join(js, '..', 'cowork_jupyter');
const development = process.argv.includes('--development');

// Each widget's state holds the whole of card.js, so its size is paid once for each card: over the
// wire, and in notebooks that keep their widgets. Unpacked it is only read.
const CARD_LIMIT_KB = 57;
const UNPACKED_LIMIT_KB = 137;
const STYLE_LIMIT_KB = 60;
const LAB_LIMIT_KB = 438;

// What neither JSON nor HTML nor a string of JavaScript has to escape. Five of these hold four
// bytes.
const DIGITS = [...Array(92).keys()]
  .map(at => String.fromCharCode(35 + at))
  .filter(one => !"$&'<>\\`".includes(one))
  .join('');

function inDigits(bytes) {
  const padded = Buffer.concat([bytes, Buffer.alloc(-bytes.length & 3)]);
  let text = '';
  for (let at = 0; at < padded.length; at += 4) {
    let word = padded.readUInt32BE(at);
    let five = '';
    for (let digit = 0; digit < 5; digit += 1) {
      five = DIGITS[word % 85] + five;
      word = Math.floor(word / 85);
    }
    text += five;
  }
  return text;
}

// The script unpacks itself: less than half the size, and anywidget loads scripts from blobs
// anyway.
async function selfUnpacking(script) {
  const bytes = Buffer.from(await zopfli.deflateAsync(script, { numiterations: 60 }));
  const unpacking = `const packed="${inDigits(bytes)}",digits="${DIGITS}";
async function unpack(){
const words=new DataView(new ArrayBuffer(packed.length/5*4));
for(let at=0,word=0;at<packed.length;){
word=word*85+digits.indexOf(packed[at++]);
if(at%5<1){words.setUint32(at/5*4-4,word);word=0}}
const bytes=new Blob([words]).slice(0,${bytes.length});
const stream=bytes.stream().pipeThrough(new DecompressionStream("deflate-raw"));
const script=await new Response(stream).blob();
const url=URL.createObjectURL(new Blob([script],{type:"text/javascript"}));
const card=await import(url);
URL.revokeObjectURL(url);
return card.default
}
let widget;
export default {render:async props=>(await(widget??=unpack())).render(props)};
`;
  return (await transform(unpacking, { minify: true, format: 'esm' })).code;
}

// As Lab's bundle is minified: packed, this is smaller than what esbuild makes.
async function minified(script) {
  const { code } = await rspack.experiments.swc.minify(script, {
    module: true,
    compress: { passes: 3, ecma: 2022 },
    mangle: { toplevel: true },
    format: { comments: false }
  });
  return code;
}

// One file holds everything, so nothing in it need be loaded later: a dynamic import would wrap
// each module that it reaches.
const importAtOnce = {
  name: 'import-at-once',
  setup({ onLoad }) {
    onLoad({ filter: /\/src\/.*\.tsx?$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8');
      const imports = [];
      const contents = source.replace(/await import\(('[^']+')\)/g, (_, module) => {
        imports.push(`import * as later${imports.length} from ${module};`);
        return `later${imports.length - 1}`;
      });
      return {
        contents: [...imports, contents].join('\n'),
        loader: path.endsWith('x') ? 'tsx' : 'ts'
      };
    });
  }
};

const bundled = await build({
  absWorkingDir: js,
  entryPoints: { card: 'src/widgets/card.tsx' },
  outdir: join(python, 'static'),
  bundle: true,
  format: 'esm',
  target: 'es2022',
  // Shorter than what `tsc` makes for Lab: no `children:` at each element, no `\\u2026` for `…`.
  tsconfigRaw: {
    compilerOptions: { jsx: 'react', jsxFactory: 'h', jsxFragmentFactory: 'Fragment' }
  },
  inject: ['scripts/jsx.mjs'],
  plugins: [importAtOnce],
  charset: 'utf8',
  legalComments: 'none',
  logLevel: 'warning',
  write: false
});
const { text } = bundled.outputFiles[0];
const script = Buffer.from(development ? text : await minified(text));
const unpackedKb = script.length / 1024;
mkdirSync(join(python, 'static'), { recursive: true });
writeFileSync(
  join(python, 'static', 'card.js'),
  development ? script : await selfUnpacking(script)
);
await build({
  absWorkingDir: js,
  entryPoints: { card: 'style/card.css' },
  outdir: join(python, 'static'),
  bundle: true,
  minify: !development,
  logLevel: 'warning'
});
// The bundle holds Preact, whose licence asks to go with it.
copyFileSync(
  join(js, 'node_modules', 'preact', 'LICENSE'),
  join(python, 'static', 'preact.LICENSE.txt')
);

function sizeKb(...files) {
  return files.reduce((sum, file) => sum + statSync(file).size, 0) / 1024;
}

const labFiles = join(python, 'labextension', 'static');
const sizes = [
  ['static/card.js, unpacked', unpackedKb, UNPACKED_LIMIT_KB],
  ['static/card.js', sizeKb(join(python, 'static', 'card.js')), CARD_LIMIT_KB],
  ['static/card.css', sizeKb(join(python, 'static', 'card.css')), STYLE_LIMIT_KB],
  [
    'labextension/static/*.js',
    sizeKb(
      ...readdirSync(labFiles)
        .filter(name => name.endsWith('.js'))
        .map(name => join(labFiles, name))
    ),
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
