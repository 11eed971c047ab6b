// Output that is compared with a page: epochs, times and waits differ from run to run, the words do not.

export function withoutFigures(text: string): string {
  return text
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/\d{6,}/g, 'EPOCH')
    .replaceAll(/\d+ ms/g, 'N ms')
    .replaceAll(/\d+ renewals/g, 'N renewals')
    .trim();
}
