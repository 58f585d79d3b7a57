/** Downloads a file from the server with Lab's credentials. */

import { ServerConnection } from '@jupyterlab/services';

import { CoworkError, errorFromBody } from '../../shared/channel/channel';
import { unreachable } from '../../shared/channel/serverChannel';
import { t } from '../../shared/text/translate';

export async function download(
  settings: ServerConnection.ISettings,
  path: string,
  fileName: string
): Promise<void> {
  const response = await ServerConnection.makeRequest(
    `${settings.baseUrl}cowork/${path}`,
    {},
    settings
  ).catch(() => null);
  if (response === null) {
    throw unreachable();
  }
  if (!response.ok) {
    const body: unknown = await response.json().catch(() => null);
    throw (
      errorFromBody(response.status, body) ??
      new CoworkError({
        code: 'failed',
        message: t('The file could not be created.'),
        status: response.status
      })
    );
  }
  const address = URL.createObjectURL(await response.blob());
  const link = document.createElement('a');
  link.href = address;
  link.download = fileName;
  link.click();
  // By then the browser has read it.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
