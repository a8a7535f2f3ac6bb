"""Runs the Model Context Protocol's Python client against a server: agents.py BASE_URL [toy].

With "toy" the server is the one in server/, and answers are known exactly.
"""

import asyncio
import base64
import sys

from google.genai import _mcp_utils
from mcp import Client

from checks import TOY, check, report, using


async def main():
    using("mcp", "Model Context Protocol")
    async with Client(sys.argv[1].rstrip("/") + "/mcp") as agent:
        check("mcp: newest version of the protocol", agent.protocol_version >= "2026-07-28", agent.protocol_version)
        tools = (await agent.list_tools()).tools
        check("mcp: tools", {t.name for t in tools} == {"translate", "translate_document", "detect_language", "list_languages"}, tools)
        using("google-genai", "Model Context Protocol")
        for tool in tools:
            check("mcp: Gemini takes " + tool.name, _mcp_utils.mcp_to_gemini_tool(tool).function_declarations[0].name == tool.name)

        using("mcp", "Model Context Protocol")

        async def call(tool, /, **arguments):
            return await agent.call_tool(tool, arguments)

        for what, arguments in {"texts": {"texts": ["Good morning."], "to": "fr"}, "as models write": {"texts": "Good morning.", "to": "French", "from": None, "terms": None}}.items():
            answer = await call("translate", **arguments)
            got = answer.structured_content["translations"][0]["text"]
            check("mcp: " + what, got == "GOOD MORNING." if TOY else got and got != "Good morning.", answer)
        answer = await call("list_languages")
        check("mcp: languages", "fr" in {l["code"] for l in answer.structured_content["languages"]}, answer)
        unknown = {} if TOY else {"list_languages": {"texts": ["a"], "to": "Klingon"}}
        for what, arguments in {**unknown, "has no argument": {"text": "a", "to": "fr"}, "needs texts": {"to": "fr"}}.items():
            answer = await call("translate", **arguments)
            check("mcp: " + what, answer.is_error and what in answer.content[0].text, answer)
        if not TOY:
            answer = await call("translate_document", name="letter.md", content=base64.b64encode(b"# Good morning.\n").decode(), to="fr")
            check("mcp: document", answer.structured_content["name"] == "letter.fr.md" and answer.content[1].resource.text.startswith("# "), answer)


asyncio.run(main())
report()
