import { Gettext, type IJsonData, type ITranslator } from '@jupyterlab/translation';

import type { Translation } from '../../shared/text/translate';

const DOMAIN = 'cowork_jupyter';

/** Loaded only by pages in that language. */
const CATALOGUES: Record<string, () => Promise<{ default: unknown }>> = {
  de: () => import('./de.json')
};

/**
 * Lab loads language packs only for installed languages, and none includes us, so our own
 * catalogues come first. For other languages, use Lab's.
 */
export async function loadTranslation(translator: ITranslator): Promise<Translation> {
  const [language = ''] = translator.languageCode.split('-');
  const bring = Object.hasOwn(CATALOGUES, language) ? CATALOGUES[language] : undefined;
  try {
    const catalogue = (await bring?.())?.default;
    if (catalogue) {
      const own = new Gettext({ domain: DOMAIN, locale: language });
      own.loadJSON(catalogue as IJsonData, DOMAIN);
      return own;
    }
  } catch (error) {
    console.warn('Cowork speaks English, as its translation does not load.', error);
  }
  return translator.load(DOMAIN);
}
