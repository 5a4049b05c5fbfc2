"""Sends with requests, as its documentation has it: sender.py CA PAUSE URL…"""

import sys
import time

import requests

ca, pause, *urls = sys.argv[1:]
session = requests.Session()
for i, url in enumerate(urls):
    if i > 0:
        time.sleep(float(pause))
    try:
        response = session.post(url, json={"type": "user.created", "data": {}}, timeout=15, verify=ca)
        print(response.status_code, flush=True)
    except requests.RequestException:
        print(0, flush=True)
