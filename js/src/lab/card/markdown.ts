/** Lab's own Markdown for what agents write: highlighted, with diagrams, and harmless. */

import type { IRenderMime, IRenderMimeRegistry } from '@jupyterlab/rendermime';

import { withSafeDiagrams } from './diagrams';
import type { Draw } from './HostText';

const MARKDOWN = 'text/markdown';
/** What could move text to where a button is, or run one of Lab's commands on a click. */
const BEYOND_TEXT = /^(style|data-commandlinker.*)$/;
const CONTROLS = 'button, input, select, option, textarea, form, fieldset, label, dialog';
/** How our own buttons and cards look. */
const OUR_LOOK = /^(cw|cowork)-/;

export function labMarkdown(rendermime: IRenderMimeRegistry): Draw {
  let own: IRenderMimeRegistry | null = null;
  return async (source, node) => {
    // Cloned when first needed, with all that other extensions have added by then.
    own ??= rendermime.clone({ sanitizer: harmless(rendermime.sanitizer) });
    const renderer = own.createRenderer(MARKDOWN);
    await renderer.renderModel(
      own.createModel({
        data: { [MARKDOWN]: withSafeDiagrams(htmlAsText(source)) },
        trusted: false
      })
    );
    node.replaceChildren(renderer.node);
    own.latexTypesetter?.typeset(node);
  };
}

/**
 * Lab's sanitiser, and a little more: nothing is a control, or looks like one of ours. A picture's
 * address is called as soon as it is drawn, and could carry off what the agent has read. So only
 * pictures whose bytes stand in their address (Lab's diagrams) are left; all others become links.
 */
export function harmless(sanitizer: IRenderMime.ISanitizer): IRenderMime.ISanitizer {
  return {
    ...(sanitizer.allowNamedProperties === undefined
      ? {}
      : { allowNamedProperties: sanitizer.allowNamedProperties }),
    getAutolink: () => sanitizer.getAutolink?.() ?? true,
    sanitize: (dirty, options) => {
      // A document of the parser's loads nothing.
      const page = new DOMParser().parseFromString(sanitizer.sanitize(dirty, options), 'text/html');
      for (const media of page.querySelectorAll('img, audio, video, source, picture, svg image')) {
        const address = media.getAttribute('src') ?? '';
        if (
          media.localName !== 'img' ||
          !/^data:image\//.test(address) ||
          media.hasAttribute('srcset')
        ) {
          media.replaceWith(linkTo(page, address, media.getAttribute('alt') ?? ''));
        }
      }
      // Whatever is pressed here must be ours.
      for (const control of page.querySelectorAll(CONTROLS)) {
        const isTicked = control.hasAttribute('checked');
        control.replaceWith(
          ...(control.getAttribute('type') === 'checkbox'
            ? [isTicked ? '☑ ' : '☐ ']
            : control.childNodes)
        );
      }
      for (const element of page.body.querySelectorAll('*')) {
        for (const name of [...element.classList].filter(one => OUR_LOOK.test(one))) {
          element.classList.remove(name);
        }
        for (const name of element.getAttributeNames().filter(one => BEYOND_TEXT.test(one))) {
          element.removeAttribute(name);
        }
      }
      return page.body.innerHTML;
    }
  };
}

function linkTo(page: Document, address: string, words: string): HTMLElement {
  const link = page.createElement('a');
  link.textContent = words || address;
  if (/^https?:\/\//.test(address)) {
    link.href = address;
    link.rel = 'noopener noreferrer';
    link.target = '_blank';
  }
  return link;
}

/**
 * HTML is shown as it was written, not obeyed: outside of code every `<` is escaped. The sanitiser
 * is the wall, this is for the eye.
 */
export function htmlAsText(source: string): string {
  let fence = '';
  return source
    .split('\n')
    .map(line => {
      const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1] ?? '';
      if (mark && (fence === '' || mark.startsWith(fence))) {
        fence = fence === '' ? mark : '';
        return line;
      }
      return fence === ''
        ? line.replace(/(`+)(?:(?!`).)*\1|</g, found => (found === '<' ? '&lt;' : found))
        : line;
    })
    .join('\n');
}
